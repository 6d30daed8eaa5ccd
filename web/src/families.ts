// One colour per family of operators, the same in every chart and in every release. The colours are
// Okabe and Ito's and stay apart under every common kind of colour blindness; names stand beside
// them everywhere.
import { palette } from "./theme";

export type FamilyId =
    | "convolution"
    | "matmul"
    | "attention"
    | "normalization"
    | "activation"
    | "elementwise"
    | "pooling"
    | "movement"
    | "reduction"
    | "other";

interface Family {
    id: FamilyId;
    text: string;
    color: number; // in palette().series
    types: RegExp;
}

// Types that begin with one of the words.
const begins = (words: string): RegExp => new RegExp(`^(${words.split(" ").join("|")})`);

// The first that matches a type is its family.
const families: Family[] = [
    { id: "convolution", text: "Convolution", color: 0, types: /^(deform)?conv/ },
    { id: "attention", text: "Attention", color: 3, types: /attention|^(mha|gqa)/ },
    {
        id: "matmul",
        text: "Matrix product",
        color: 1,
        types: /^(linear|gemm|.*matmul|einsum|lstm|gru|rnn|moe|bilinear)/,
    },
    { id: "normalization", text: "Normalization", color: 2, types: /norm|^(affine|lrn)|softmax/ },
    {
        id: "pooling",
        text: "Pooling",
        color: 5,
        types: /pool|^(resize|upsample|gridsample|roialign)/,
    },
    {
        id: "activation",
        text: "Activation",
        color: 4,
        types: /relu|elu$|gelu|silu|swish|sigmoid|tanh|^(clip|mish|soft|erf|exp|log|sqrt|sin|cos)/,
    },
    {
        id: "elementwise",
        text: "Element by element",
        color: 8,
        types: begins(
            "add sub mul div pow neg abs min max mod and or not xor equal greater less where bit " +
                "round floor ceil sign reciprocal cast quant dequant dynamicquant",
        ),
    },
    {
        id: "reduction",
        text: "Reduction",
        color: 6,
        types: /^(reduce|sum|mean|arg|topk|cum|nonmax|nms|sort)/,
    },
    {
        id: "movement",
        text: "Data movement",
        color: 7,
        types: begins(
            "reshape transpose concat slice split gather scatter flatten squeeze unsqueeze " +
                "expand tile pad identity dropout shape constant depthtospace space embedding " +
                "range fill nonzero onehot copy memcpy reorder",
        ),
    },
    { id: "other", text: "Other", color: 9, types: /./ },
];

const known = new Map<string, Family>();

export function familyOf(type: string | null | undefined): Family {
    const name = (type ?? "").toLowerCase();
    const there = known.get(name);
    if (there) return there;
    const found = families.find((x) => x.types.test(name)) ?? families[families.length - 1];
    known.set(name, found);
    return found;
}

export const familyColor = (type: string | null | undefined): string =>
    palette().series[familyOf(type).color];

// For legends: the families of these types, in the order above.
export function familiesOf(
    types: Iterable<string | null | undefined>,
): { text: string; color: string }[] {
    const seen = new Set([...types].map(familyOf));
    return families
        .filter((x) => seen.has(x))
        .map((x) => ({ text: x.text, color: palette().series[x.color] }));
}
