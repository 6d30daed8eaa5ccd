// Places of the dashboard are in the fragment of the address:
//   #/  the overview     #/records     #/devices     #/record/7     #/compare/1,2,3
//   #/trend/MODEL/METRIC     #/add     #/sweeps     #/sweep/1     #/fleet/QUESTION?since=30d
import { h, type Attributes, type Child } from "../dom";
import { alert } from "../ui";

export const hrefOf = (path: string): string => `#/${path}`;
export const goTo = (path: string): void => {
    location.hash = hrefOf(path);
};

export const link = (path: string, text: Child, more: Attributes = {}): HTMLElement =>
    h("a", { href: hrefOf(path), ...more }, text);
export const linkButton = (path: string, text: string): HTMLElement =>
    link(path, text, { class: "button" });

export const trouble = (error: unknown): HTMLElement =>
    alert(error instanceof Error ? error.message : String(error));
