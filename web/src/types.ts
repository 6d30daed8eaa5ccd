// The documents that the page reads: docs/json.md is their description. Every field may be missing: results of
// older and newer versions, and of other sections than we know, are shown as far as they go.
export type Num = number | null | undefined;
export type Shape = (number | null)[] | null;

export interface Layer {
    name: string;
    type?: string;
    op?: string;
    module?: string;
    inputs?: string[];
    outputs?: string[];
    input_shapes?: Shape[];
    output_shapes?: Shape[];
    output_types?: (string | null)[];
    parameters?: number;
    flops?: number;
    macs?: number;
    memory?: number;
    weight_bytes?: number;
    read_bytes?: number;
    written_bytes?: number;
    arithmetic_intensity?: Num;
    bottleneck?: string;
    band?: string;
    certainty?: string;
    times?: number;
    live_bytes?: number;
    time_ms?: Num;
    time_std_ms?: Num;
    gflops_per_s?: Num;
    gbytes_per_s?: Num;
    percent_of_roof?: Num;
    backward_flops?: number;
    backward_macs?: number;
    saved_bytes?: number;
}

export interface Operation {
    type: string;
    count?: number;
    flops?: number;
    macs?: number;
    memory?: number;
    parameters?: number;
    percent?: Num;
}

export interface Latency {
    mean?: Num;
    std?: Num;
    min?: Num;
    max?: Num;
    p50?: Num;
    p90?: Num;
    p95?: Num;
    p99?: Num;
    runs?: Num;
    ci95_low?: Num;
    ci95_high?: Num;
    effective_runs?: Num;
    p99_runs_needed?: Num;
    warmup_runs?: Num;
    steady_after?: Num;
    steady?: boolean;
    partial?: boolean;
    outliers?: { run: number; ms: number; cause?: string }[];
    samples_ms?: number[];
    warmup_ms?: number[];
}

export interface Configuration {
    batch: number;
    precision?: string;
    error?: string;
    code?: string;
    runs?: Num;
    mean_ms?: Num;
    std_ms?: Num;
    median_ms?: Num;
    p95_ms?: Num;
    p99_ms?: Num;
    samples_per_second?: Num;
    peak_bytes?: Num;
    cpu_percent?: Num;
    gflops_per_s?: Num;
    latency?: Latency;
    throughput?: Record<string, any>;
    memory?: Record<string, any>;
    utilization?: Record<string, any>;
    cold_start?: Record<string, any>;
}

export interface Moment {
    node: string;
    live_bytes: number;
}
export interface LiveValue {
    value: string;
    producer?: string;
    bytes: number;
}
export interface MemoryEvent {
    step: number;
    kind: string;
    node: string;
    value: string;
    of?: string | null;
    bytes: number;
    slot: number;
    offset: number;
    live_bytes: number;
}
export interface Snapshot {
    kind: string;
    step: number;
    node: string;
    live_bytes: number;
    values?: LiveValue[];
    values_left_out?: number;
}
export interface PlanStep {
    cause: string;
    bytes: number;
    total_bytes: number;
}

export interface DeviceRow {
    name: string;
    precision?: string;
    batch?: number;
    latency_ms?: Num;
    throughput?: Num;
    memory_bytes?: Num;
    fits?: boolean;
    verdict?: string;
    bound?: string;
    energy_j_per_sample?: Num;
    percent_of_peak?: Num;
    pareto?: boolean;
    speed?: string;
    training_step_ms?: Num;
    training_memory_bytes?: Num;
    training_fits?: boolean;
}

export interface Hardware {
    id: string;
    name?: string;
    class?: string;
    memory_bytes?: Num;
    bandwidth_bytes_per_s?: Num;
    tdp_w?: Num;
    overhead_us?: Num;
    certainty?: string;
    source?: string;
    precisions?: {
        precision: string;
        peak_ops_per_s?: Num;
        ridge?: Num;
        largest_batch?: Num;
        largest_training_batch?: Num;
    }[];
}

export interface Group {
    id?: number;
    kind?: string;
    nodes?: string[];
    flops?: number;
    macs?: number;
    boundary_bytes?: number;
    arithmetic_intensity?: Num;
    level?: Num;
    depends_on?: number[];
    [key: string]: any;
}

export interface Profile {
    schema?: string;
    model: string;
    lens?: string;
    context?: Record<string, any>;
    config?: Record<string, any>;
    architecture?: Record<string, any>;
    total_flops?: number;
    total_macs?: number;
    total_memory?: number;
    total_parameters?: number;
    total_operators?: number;
    arithmetic_intensity?: Num;
    cost?: Record<string, number>;
    accounting?: {
        nodes?: number;
        exact?: number;
        assumed?: number;
        unknown?: number;
        folded?: number;
        anything_assumed?: boolean;
        weights_differ?: boolean;
        architecture_changed?: boolean;
        items?: { node: string; op?: string; reason?: string; certainty?: string }[];
    };
    operations?: Operation[];
    bottlenecks?: Record<string, any>;
    layers?: Layer[];
    modules?: {
        path: string;
        name: string;
        depth: number;
        layers?: number;
        parameters?: number;
        flops?: number;
        macs?: number;
        memory?: number;
    }[];
    memory_plan?: {
        weights_bytes?: number;
        activations_peak_bytes?: number;
        peak_bytes?: number;
        lower_bound_bytes?: number;
        planned_bytes?: number;
        fragmentation?: Num;
        peak_node?: string;
        witnesses?: LiveValue[];
        timeline?: Moment[];
        events?: MemoryEvent[];
        snapshots?: Snapshot[];
    };
    plan_check?: {
        planned_peak?: Num;
        measured_peak?: Num;
        measured_peak_node?: string;
        timeline?: Moment[];
        shapes_checked?: Num;
        shapes_equal?: Num;
        ledger?: PlanStep[];
    };
    training?: Record<string, any>;
    inventory?: {
        tensors?: number;
        elements?: number;
        bytes?: number;
        largest?: {
            name: string;
            dtype?: string;
            shape?: Shape;
            elements?: number;
            bytes?: number;
        }[];
    };
    single_image?: Record<string, any>;
    batch_profiling?: Record<string, any>;
    latency?: Latency;
    throughput?: Record<string, any>;
    memory?: Record<string, any>;
    utilization?: Record<string, any>;
    io?: Record<string, any>;
    cold_start?: Record<string, any>;
    ledger?: Record<string, any>;
    configurations?: Configuration[];
    recommended_batch?: Num;
    batch_choice?: { why?: string };
    interrupted?: boolean;
    stopped?: string;
    ceilings?: {
        name?: string;
        measured?: string;
        dtype?: string;
        threads?: Num;
        operations_per_s?: Num;
        levels?: { name: string; bytes_per_s: number }[];
    };
    devices?: DeviceRow[];
    map?: {
        prediction?: string;
        calibration?: { median_error?: Num; [key: string]: any };
        hardware?: Hardware[];
        layers?: {
            device?: string;
            name: string;
            type?: string;
            time_ms?: Num;
            bound?: string;
            percent_of_peak?: Num;
        }[];
        pareto?: { goal?: string; against?: string; rows?: number[] };
        skipped?: any[];
        fixed_batch?: Num;
    };
    groups?: Group[];
    fusion?: Record<string, any>;
    recommendations?: { id?: string; title: string; why?: string; expected?: string }[];
    warnings?: { code?: string; node?: string; text: string; advice?: string }[];
    warnings_dropped?: number;
    [key: string]: any;
}

export type Document = Record<string, any>;

// What assay made of a document that is no profile: src/report/view.h.
export type Tone = "good" | "fair" | "poor" | "plain";
export interface ViewTable {
    title: string;
    first: boolean;
    columns: { name: string; number: boolean }[];
    rows: string[][];
    marks?: Tone[];
}
export interface View {
    title: string;
    under?: string;
    banners: { text: string; tone: Tone }[];
    remarks: string[];
    groups: {
        title?: string;
        facts: { name: string; value: string; note?: string; verdict?: string; tone?: Tone }[];
    }[];
    tables: ViewTable[];
}

export interface Envelope {
    mode: "report" | "dashboard";
    graphs: boolean;
    details: boolean;
    tool: string;
    documents: Document[];
    views?: (View | null)[];
}
export interface Shown {
    graphs: boolean;
    details: boolean;
}
