import type { Comparison, Profile } from "./result";

export type { Comparison, Profile } from "./result";

/** Options of the command line without their dashes: `batch`, `lens`, `training`, `dim`, … (docs/cli.md). */
export type Options = Record<
    string,
    string | number | boolean | readonly string[] | null | undefined
>;

/** What the program says on stderr, and its exit code: 2 usage, 3 malformed, 4 unsupported, … */
export class AssayError extends Error {
    readonly code: number;
}

/** The profile of a file, of a built-in model by name, or of the bytes of a file: the JSON of `assay graph MODEL --json`. */
export function profile(model: string | ArrayBuffer | Uint8Array, options?: Options): Profile;
/** Several models side by side: the JSON of `assay compare A B --json`. */
export function compare(models: readonly string[], options?: Options): Comparison;
/** The built-in models. */
export function models(): { name: string; family: string; task: string; parameters: number }[];
/** Any command line; its exit code and streams. */
export function run(
    args: readonly string[],
    how?: { env?: Record<string, string> },
): { code: number; stdout: string; stderr: string };
