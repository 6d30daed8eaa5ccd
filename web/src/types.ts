// The results that the page reads: docs/json.md describes them, docs/schema/ is their JSON Schema.
// Fields are optional: results of older and newer versions are shown as far as they go.

// null is a dimension that is not known, or a whole shape of unknown rank.
export type Shape = (number | null)[] | null;

// ---- assay.profile/1 ----

export interface Profile {
    schema?: "assay.profile/1";
    model?: string;
    lens?: string;
    context?: Context;
    config?: Config;
    architecture?: Architecture;
    total_flops?: number;
    total_macs?: number;
    total_memory?: number;
    total_parameters?: number;
    total_operators?: number;
    arithmetic_intensity?: number;
    cost?: Cost;
    accounting?: Accounting;
    operations?: Operation[];
    bottlenecks?: Bottlenecks;
    layers?: Layer[];
    modules?: Module[];
    values?: Record<string, ValueType>;
    memory_plan?: MemoryPlan;
    inventory?: Inventory;
    training?: Training;
    single_image?: SingleImage;
    batch_profiling?: Record<string, BatchProfile>;
    latency?: Latency;
    throughput?: Throughput;
    memory?: RunMemory;
    utilization?: Utilization;
    io?: Io;
    cold_start?: ColdStart;
    ledger?: Ledger;
    watch?: Watch;
    gpu?: Gpu;
    ceilings?: Ceilings;
    plan_check?: PlanCheck;
    end_to_end?: EndToEnd;
    configurations?: Configuration[];
    devices?: DeviceRow[];
    map?: DeviceMap;
    groups?: FusedGroup[];
    fusion?: Fusion;
    patterns?: Pattern[];
    recommended_batch?: number;
    batch_choice?: BatchChoice;
    interrupted?: true;
    stopped?: string;
    recommendations?: Recommendation[];
    warnings?: Warning[];
    warnings_dropped?: number;
}

export interface Context {
    tool_version?: string;
    timestamp?: string;
    command?: string | null;
    host?: Host;
    engine?: Engine;
    governor?: string;
    model_sha256?: string;
}

export interface Host {
    os?: string | null;
    machine?: string | null;
    cpu?: string | null;
    cores?: number;
    memory_bytes?: number;
}

export interface Engine {
    name?: string;
    title?: string | null;
    version?: string;
    library?: string | null;
    device?: string | null;
    threads?: number;
    opt_level?: number;
    spin?: boolean;
    provider_options?: ProviderOption[];
    concurrency?: number;
    rate?: number | null;
    seed?: number;
    interleaved?: true;
}

export interface ProviderOption {
    key: string;
    value: string;
}

export interface Config {
    model?: string;
    format?: string;
    image_size?: number | number[];
    device?: string | null;
    config_file?: string | null;
    precision?: string | null;
    weighed_as?: string;
    ir_version?: number;
    opset?: number;
    producer?: string | null;
    batch_sizes?: number[];
    batch?: BatchDimension;
    input_shapes?: Record<string, Shape>;
    inputs?: GraphValue[];
    outputs?: GraphValue[];
}

export interface BatchDimension {
    present?: boolean;
    certainty?: "built" | "named" | "tried" | "likely" | "assumed";
    why?: string;
    axes?: BatchAxis[];
}

export interface BatchAxis {
    input: string;
    axis: number | null;
}

export interface GraphValue {
    name: string;
    dtype: string | null;
    shape: Shape;
    kind?: string;
}

export interface Architecture {
    total_parameters?: number;
    trainable_parameters?: number;
    buffers?: number;
    parameters_not_in_graph?: number;
    model_size_mb?: number;
    weight_bytes?: number;
    file_size_bytes?: number;
    flops?: number;
    gflops?: number;
    macs?: number;
    gmacs?: number;
    causal_macs?: number;
    flops_per_param?: number | null;
    operators?: number;
    weights_by_dtype?: Record<string, WeightTotal>;
}

export interface WeightTotal {
    elements?: number;
    bytes?: number;
}

export interface Cost {
    mac?: number;
    add?: number;
    mul?: number;
    div?: number;
    special?: number;
    cmp?: number;
    int_ops?: number;
    attention_qk_mac?: number;
    attention_av_mac?: number;
}

export interface Accounting {
    nodes?: number;
    exact?: number;
    assumed?: number;
    unknown?: number;
    folded?: number;
    anything_assumed?: boolean;
    weights_differ?: true;
    architecture_changed?: true;
    items?: Assumption[];
}

export interface Assumption {
    node: string;
    op?: string;
    reason?: string;
    certainty?: "assumed" | "unknown";
}

export interface Operation {
    type: string;
    count?: number;
    flops?: number;
    macs?: number;
    memory?: number;
    parameters?: number;
    percent?: number;
}

export interface Bottlenecks {
    threshold?: number;
    hardware?: string;
    compute_bound_percent?: number;
    memory_bound_percent?: number;
    compute_bound_layers_percent?: number;
    memory_bound_layers_percent?: number;
}

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
    attributes?: Record<string, number | string | (number | string)[] | LongAttribute>;
    parameters?: number;
    flops?: number;
    macs?: number;
    memory?: number;
    weight_bytes?: number;
    read_bytes?: number;
    written_bytes?: number;
    arithmetic_intensity?: number;
    bottleneck?: "compute-bound" | "memory-bound";
    band?: "strong-compute" | "compute" | "balanced" | "memory";
    certainty?: "exact" | "assumed" | "unknown";
    times?: number;
    live_bytes?: number;
    backward_flops?: number;
    backward_macs?: number;
    saved_bytes?: number;
    time_std_ms?: number;
    time_ms?: number;
    gflops_per_s?: number;
    gbytes_per_s?: number;
    percent_of_roof?: number;
}

export interface LongAttribute {
    items?: number;
    hash?: string;
}

export interface Module {
    path: string;
    name?: string;
    depth?: number;
    layers?: number;
    parameters?: number;
    flops?: number;
    macs?: number;
    memory?: number;
}

export interface ValueType {
    dtype?: string | null;
    shape?: Shape;
    kind?: string;
    certainty?: "exact" | "assumed" | "unknown";
}

export interface MemoryPlan {
    weights_bytes?: number;
    activations_peak_bytes?: number;
    peak_bytes?: number;
    lower_bound_bytes?: number;
    planned_bytes?: number;
    kv_cache?: "included" | "excluded";
    fragmentation?: number;
    peak_node?: string | null;
    witnesses?: LiveValue[];
    timeline?: Moment[];
    slots?: Slot[];
    events?: PlanEvent[];
    snapshots?: Snapshot[];
}

export interface LiveValue {
    value: string;
    producer: string;
    bytes: number;
}

export interface Moment {
    node: string;
    live_bytes: number;
}

export interface Slot {
    value: string;
    offset: number;
    bytes: number;
    from: number;
    to: number;
}

export interface PlanEvent {
    step: number;
    kind: "allocate" | "reuse" | "alias" | "free";
    node: string;
    value: string;
    of: string | null;
    bytes: number;
    slot: number;
    offset: number;
    live_bytes: number;
}

export interface Snapshot {
    kind: "start" | "peak" | "maximum" | "asked" | "end";
    step: number;
    node: string;
    live_bytes: number;
    values: LiveValue[];
    values_left_out: number;
}

export interface Inventory {
    tensors?: number;
    elements?: number;
    bytes?: number;
    largest?: StoredTensor[];
}

export interface StoredTensor {
    name: string;
    dtype?: string;
    shape?: Shape;
    elements?: number;
    bytes?: number;
}

export interface Training {
    forward_flops?: number;
    backward_flops?: number;
    forward_macs?: number;
    backward_macs?: number;
    saved_activation_bytes?: number;
    optimizers?: Optimizer[];
}

export interface Optimizer {
    name: string;
    bytes_per_param?: number;
    weights_bytes?: number;
    gradients_bytes?: number;
    states_bytes?: number;
    total_bytes?: number;
}

export interface SingleImage {
    input_shape?: Shape;
    timing?: Timing;
    memory?: ResidentMemory;
}

export interface Timing {
    mean_ms?: number;
    std_ms?: number;
    min_ms?: number;
    max_ms?: number;
    median_ms?: number;
    fps?: number;
}

export interface ResidentMemory {
    before_mb?: number;
    after_mb?: number;
    peak_mb?: number;
    activation_mb?: number;
}

export interface BatchProfile {
    timing?: Timing;
    memory?: ResidentMemory;
    throughput?: number;
    error?: string;
    code?: string;
}

export interface Latency {
    mean?: number;
    std?: number;
    min?: number;
    max?: number;
    p50?: number;
    p90?: number;
    p95?: number;
    p99?: number;
    runs?: number;
    ci95_low?: number | null;
    ci95_high?: number | null;
    ci95_absent?: "few-runs" | "scattered";
    effective_runs?: number;
    p99_runs_needed?: number;
    warmup_runs?: number;
    steady_after?: number;
    warmup_ms?: number[];
    steady?: boolean;
    partial?: boolean;
    outliers?: Outlier[];
    samples_ms?: number[];
}

export interface Outlier {
    run: number;
    ms: number;
    cause?: string;
}

export interface Throughput {
    samples_per_second?: number;
    images_per_second?: number;
    tokens_per_second?: number;
    requests_per_second?: number;
    unit?: "samples" | "images" | "tokens" | "requests";
    units_per_sample?: number;
    gflops_per_s?: number;
    gbytes_per_s?: number;
    percent_of_peak?: number | null;
    percent_of_bandwidth?: number | null;
}

export interface RunMemory {
    peak?: number;
    average?: number;
    per_sample?: number;
    fragmentation?: number | null;
    resident_before_session?: number;
    resident_before?: number;
    resident_after?: number;
    resident_run_peak?: number;
    resident_peak?: number;
    anonymous_peak?: number;
    file_backed_peak?: number;
    arena_in_use?: number | null;
    arena_requested?: number | null;
    arena_peak?: number | null;
    arena_held?: number | null;
    planned_activations?: number;
    planned_training?: number;
    planned_training_activations?: number;
    curve?: MemorySample[];
}

export interface MemorySample {
    ms: number;
    resident: number;
    anonymous?: number;
    file_backed?: number;
}

export interface Utilization {
    cpu_percent?: number | null;
    threads?: number;
    cpu_percent_per_thread?: number | null;
    wall_s?: number;
    cpu_s?: number;
    voluntary_switches?: number;
    involuntary_switches?: number;
    minor_faults?: number;
    major_faults?: number;
    steal_percent?: number | null;
    energy_j?: number | null;
    frequency_mhz?: number | null;
    frequency_min_mhz?: number | null;
    gpu_percent?: number | null;
    gpu_percent_max?: number | null;
    gpu_memory_percent?: number | null;
    gpu_power_w?: number | null;
    gpu_power_max_w?: number | null;
    gpu_temperature_max_c?: number | null;
    gpu_memory_peak?: number | null;
    gpu_memory_total?: number | null;
    gpu_process_peak?: number | null;
    instructions?: number;
    instructions_min?: number;
    instructions_max?: number;
    pulse_us?: number;
}

export interface Io {
    read_bytes?: number | null;
    written_bytes?: number | null;
    read_chars?: number | null;
    written_chars?: number | null;
}

export interface ColdStart {
    engine_ms?: number;
    session_ms?: number;
    first_run_ms?: number;
}

export interface Ledger {
    runs?: number;
    run_ms?: number;
    layers_ms?: number;
    engine_ms?: number;
    dispatch_ms?: number;
    unexplained_ms?: number;
    latency_ms?: number;
    profiler_us_per_kernel?: number;
    profiler_us_between?: number;
    kernels?: number;
    fused_kernels?: number;
    layers_without_kernel?: number;
    groups?: TimeGroup[];
    engine_kernels?: EngineKernel[];
}

export interface TimeGroup {
    by: "type" | "module" | "pattern";
    name: string;
    layers?: number;
    time_ms?: number;
    time_std_ms?: number;
    percent?: number;
    flops?: number;
    memory?: number;
    gflops_per_s?: number;
    gbytes_per_s?: number;
    bottleneck?: "compute-bound" | "memory-bound";
}

export interface EngineKernel {
    name: string;
    op?: string;
    time_ms?: number;
}

export interface Watch {
    command?: string;
    pid?: number;
    exit_code?: number | null;
    interrupted?: boolean;
    interval_s?: number;
    wall_s?: number;
    cpu_s?: number;
    cpu_percent?: number | null;
    peak_resident?: number;
    average_resident?: number;
    peak_anonymous?: number;
    peak_file_backed?: number;
    peak_processes?: number;
    peak_threads?: number;
    voluntary_switches?: number;
    involuntary_switches?: number;
    minor_faults?: number;
    major_faults?: number;
    read_bytes?: number | null;
    written_bytes?: number | null;
    read_chars?: number | null;
    written_chars?: number | null;
    samples?: WatchSample[];
}

export interface WatchSample {
    time_s: number;
    cpu_percent?: number | null;
    resident: number;
    anonymous?: number;
    file_backed?: number;
    processes?: number;
    threads?: number;
    read_bytes?: number | null;
    written_bytes?: number | null;
    minor_faults?: number;
    major_faults?: number;
}

export interface Gpu {
    available?: boolean;
    name?: string | null;
    driver?: string | null;
    why?: string | null;
    devices?: number;
    ranges?: boolean;
    events?: GpuEvent[];
}

export interface GpuEvent {
    name: string;
    kind: "kernel" | "copy";
    count: number;
    time_ms: number;
}

export interface Ceilings {
    name?: string;
    measured?: string;
    dtype?: string;
    threads?: number;
    operations_per_s?: number;
    levels?: BandwidthLevel[];
}

export interface BandwidthLevel {
    name: string;
    bytes_per_s: number;
}

export interface PlanCheck {
    planned_peak?: number;
    planned_expanded?: number;
    planned_in_order?: number;
    planned_as_run?: number;
    planned_with_kept?: number;
    planned_no_reuse?: number;
    measured_no_reuse?: number;
    workspace_bytes?: number | null;
    ledger?: PlanStep[];
    measured_peak?: number;
    measured_peak_node?: string | null;
    shapes_checked?: number;
    shapes_equal?: number;
    first_unequal?: string | null;
    timeline?: PlanMoment[];
}

export interface PlanStep {
    cause:
        | "planned"
        | "expanded_operators"
        | "engine_order"
        | "in_place"
        | "kept_buffers"
        | "unexplained"
        | "measured"
        | "kernel_workspace";
    bytes: number;
    total_bytes: number;
}

export interface PlanMoment {
    node: string;
    live_bytes: number;
    planned_bytes?: number | null;
}

export interface EndToEnd {
    preprocess_ms?: number;
    inference_ms?: number;
    postprocess_ms?: number | null;
    total_ms?: number;
}

export interface Configuration {
    batch: number;
    file_bytes?: number;
    precision?: string;
    error?: string;
    code?: string;
    runs?: number;
    mean_ms?: number;
    std_ms?: number;
    median_ms?: number;
    p95_ms?: number;
    p99_ms?: number;
    samples_per_second?: number;
    peak_bytes?: number;
    cpu_percent?: number | null;
    gflops_per_s?: number;
    output_error?: OutputError;
    end_to_end?: EndToEnd;
    latency?: Latency;
    throughput?: Throughput;
    memory?: RunMemory;
    utilization?: Utilization;
    io?: Io;
    cold_start?: ColdStart;
}

export interface OutputError {
    max_abs?: number;
    mean_abs?: number;
    relative?: number | null;
    cosine?: number | null;
    elements?: number;
    not_finite?: number;
    outputs_left_out?: number;
}

export interface DeviceRow {
    name: string;
    precision?: "fp32" | "tf32" | "fp16" | "bf16" | "fp8" | "int8";
    batch?: number;
    latency_ms?: number;
    latency_low_ms?: number;
    latency_high_ms?: number;
    throughput?: number;
    memory_bytes?: number;
    fits?: boolean;
    verdict?:
        "safe" | "good" | "optimal for training" | "maximum throughput" | "risk of OOM" | "OOM";
    bound?: "compute" | "memory" | "overhead";
    weights_bytes?: number;
    activations_bytes?: number;
    energy_j_per_sample?: number | null;
    training_memory_bytes?: number;
    training_fits?: boolean;
    training_step_ms?: number;
    compute_bound_percent?: number;
    memory_bound_percent?: number;
    overhead_bound_percent?: number;
    percent_of_peak?: number;
    gain_from_10_percent_flops?: number;
    gain_from_10_percent_bandwidth?: number;
    speed?: string;
    memory_class?: string;
    pareto?: boolean;
}

export interface DeviceMap {
    prediction?: string;
    calibration?: MapCalibration;
    fixed_batch?: number | null;
    pareto?: ParetoFront;
    hardware?: Hardware[];
    skipped?: SkippedPrecision[];
    layers?: MappedLayer[];
}

export interface MapCalibration {
    device?: string;
    engine?: string;
    median_error?: number;
    interval_low?: number;
    interval_high?: number;
    runs?: number;
    known_percent?: number;
}

export interface ParetoFront {
    goal?: string;
    against?: string;
    limit?: number | null;
    limit_unit?: string;
    left_out_power_unknown?: number;
    rows?: number[];
}

export interface Hardware {
    id: string;
    name?: string;
    class?: string;
    memory_bytes?: number;
    bandwidth_bytes_per_s?: number;
    tdp_w?: number | null;
    overhead_us?: number;
    widest_precision_that_fits?: string | null;
    cheapest_precision_that_fits?: string | null;
    precisions?: HardwarePrecision[];
    certainty?: string;
    source?: string;
}

export interface HardwarePrecision {
    precision: string;
    peak_ops_per_s?: number;
    ridge?: number;
    largest_batch?: number;
    largest_training_batch?: number | null;
}

export interface SkippedPrecision {
    name: string;
    precision: string;
}

export interface MappedLayer {
    device: string;
    name: string;
    type?: string;
    time_ms: number;
    bound: string;
    percent_of_peak: number;
}

export interface FusedGroup {
    id: number;
    kind?: string;
    nodes?: string[];
    flops?: number;
    macs?: number;
    memory?: number;
    boundary_bytes?: number;
    arithmetic_intensity?: number;
    intensity_before?: number;
    launches?: number;
    level?: number;
    critical?: boolean;
    depends_on?: number[];
}

export interface Fusion {
    strategy?: "none" | "conventional" | "aggressive";
    groups?: number;
    launches_before?: number;
    launches_after?: number;
    bytes_before?: number;
    bytes_after?: number;
    intensity_before?: number;
    intensity_after?: number;
    levels?: number;
    widest_level?: number;
    widest_groups?: number;
    critical_groups?: number;
    critical_flops?: number;
    critical_bytes?: number;
    concurrency?: number;
    kinds?: FusedKind[];
    engine?: EngineFusion;
}

export interface FusedKind {
    kind: string;
    groups: number;
    nodes: number;
    flops: number;
    memory: number;
    boundary_bytes: number;
}

export interface EngineFusion {
    name?: string;
    kernels?: number;
    own_kernels?: number;
    nodes?: number;
    same_nodes?: number;
    groups?: number;
    same_groups?: number;
    joined_by_both?: number;
    joined_here_only?: number;
    joined_there_only?: number;
    reasons?: FusionReason[];
    differences?: FusionDifference[];
}

export interface FusionReason {
    what: "split" | "joined";
    before: string;
    after: string;
    pairs: number;
}

export interface FusionDifference {
    what: "split" | "joined";
    kernel: string;
    op: string;
    kind: string;
    detail: string;
}

export interface Pattern {
    name: string;
    form?: string;
    output?: string;
    nodes?: string[];
    native?: boolean;
    flops?: number;
    macs?: number;
}

export interface BatchChoice {
    batch?: number;
    precision?: string;
    samples_per_second?: number;
    fastest_batch?: number;
    fastest_precision?: string;
    fastest_samples_per_second?: number;
    tie_percent?: number;
    memory_available_bytes?: number;
    why?: string;
}

export interface Recommendation {
    id?: string;
    title: string;
    why?: string;
    expected?: string;
}

export interface Warning {
    code?: string;
    node?: string;
    text: string;
    advice?: string;
}

// ---- assay.comparison/1 ----

export interface Comparison {
    schema?: "assay.comparison/1";
    lens?: string;
    models?: ComparedModel[];
    measured?: MeasuredVerdict[];
    types?: ComparedType[];
    same_layers?: number;
    renamed_layers?: number;
    layers?: LayerChange[];
    peak?: LayerChange[];
    times?: LayerChange[];
}

export interface ComparedModel {
    model: string;
    label?: string;
    assumed: number;
    unknown: number;
    parameters: number;
    weight_bytes?: number;
    operators?: number;
    macs: number;
    flops: number;
    flops_per_param?: number;
    memory: number;
    arithmetic_intensity?: number;
    activations_peak_bytes?: number;
    peak_bytes: number;
    p50_ms?: number;
    samples_per_second?: number;
    memory_used_bytes?: number;
    ratios: Record<string, number>;
}

export interface MeasuredVerdict {
    model: string;
    label?: string;
    verdict?: "faster" | "slower" | "no difference" | "cannot tell" | "not run";
    interleaved?: boolean;
    ratio?: number;
    ratio_ci99_low?: number;
    ratio_ci99_high?: number;
    runs?: number;
    why?: string;
    instructions?: InstructionRatio;
    opinion?: string;
}

export interface InstructionRatio {
    ratio?: number;
    low?: number;
    high?: number;
}

export interface ComparedType {
    type: string;
    count: number[];
    flops: number[];
    macs: number[];
}

export interface LayerChange {
    change: "removed" | "added" | "changed" | "reshaped" | "same";
    type: string;
    op: string;
    before: ChangedLayer | null;
    after: ChangedLayer | null;
    attributes?: Record<string, AttributeChange>;
}

export interface ChangedLayer {
    name?: string;
    output_shapes?: Shape[];
    flops?: number;
    macs?: number;
    parameters?: number;
    memory?: number;
    peak_bytes?: number;
    time_ms?: number;
}

export interface AttributeChange {
    before?: unknown;
    after?: unknown;
}

// ---- assay.pipeline/1 ----

export interface DiffusionPipeline {
    schema?: "assay.pipeline/1";
    kind?: "diffusion";
    context?: Context;
    model?: string;
    enabled?: true;
    title?: string;
    model_component?: "unet" | "transformer";
    total_params?: number;
    params_str?: string;
    pipeline_params?: number;
    macs_per_pass?: number;
    macs_per_pass_str?: string;
    flops_per_pass?: number;
    flops_per_pass_str?: string;
    macs_per_step?: number;
    macs_per_step_str?: string;
    flops_per_step?: number;
    flops_per_step_str?: string;
    unet_macs_per_step?: number;
    unet_macs_per_step_str?: string;
    amortised_macs_per_step?: number;
    amortised_macs_per_step_str?: string;
    amortised_flops_per_step?: number;
    amortised_flops_per_step_str?: string;
    vae_macs?: number;
    vae_macs_str?: string;
    vae_flops?: number;
    vae_flops_str?: string;
    text_encoder_macs?: number;
    text_encoder_macs_str?: string;
    text_encoder_flops?: number;
    text_encoder_flops_str?: string;
    total_macs?: number;
    total_macs_str?: string;
    total_flops?: number;
    total_flops_str?: string;
    num_inference_steps?: number;
    steps_run?: number;
    guidance_scale?: number;
    guidance_distilled?: boolean;
    strength?: number;
    passes_per_step?: number;
    prompts?: number;
    prompt_tokens?: number;
    batch?: number;
    height?: number;
    width?: number;
    input_shape?: number[];
    latent_shape?: number[];
    inference_time_seconds?: null | number;
    inference_time_str?: string;
    components?: Component[];
    sweeps?: Sweep[];
    warnings?: Warning[];
    transformer_macs_per_step?: number;
    transformer_macs_per_step_str?: string;
    tflops_per_second?: number;
}

export interface Component {
    name: string;
    role?: "text_encoder" | "vae_encoder" | "denoiser" | "vae_decoder" | "other";
    model?: string;
    parameters?: number;
    precision?: string;
    weight_bytes?: number;
    activations_peak_bytes?: number;
    calls?: number;
    macs_per_call?: number;
    macs_per_call_str?: string;
    flops_per_call?: number;
    flops_per_call_str?: string;
    linear_macs_per_call?: number;
    macs?: number;
    macs_str?: string;
    flops?: number;
    flops_str?: string;
    percent?: number;
    attention?: AttentionCost;
    time_ms?: number;
    tflops_per_second?: number;
    error?: string;
}

export interface AttentionCost {
    qk_macs?: number;
    softmax_elements?: number;
    softmax_flops?: number;
    av_macs?: number;
    projection_macs?: number;
    macs?: number;
    percent?: number;
    self?: AttentionKind;
    cross?: AttentionKind;
}

export interface AttentionKind {
    layers?: number;
    qk_macs?: number;
    softmax_elements?: number;
    softmax_flops?: number;
    av_macs?: number;
    projection_macs?: number;
}

export interface Sweep {
    over: "resolution" | "steps" | "guidance";
    points: SweepPoint[];
    exponents?: SweepExponents;
}

export interface SweepPoint {
    value: number;
    height?: number;
    width?: number;
    macs_per_pass?: number;
    macs_per_step?: number;
    attention_macs_per_pass?: number;
    vae_macs?: number;
    text_encoder_macs?: number;
    total_macs?: number;
    total_flops?: number;
    relative?: number;
    relative_denoiser?: number;
}

export interface SweepExponents {
    of?: string;
    total?: number;
    denoiser?: number;
    denoiser_linear?: number;
    denoiser_attention?: number;
    vae?: number;
}

export interface LanguagePipeline {
    schema?: "assay.pipeline/1";
    kind: "language";
    context?: Context;
    model?: string;
    family?: string;
    enabled?: true;
    prompt_tokens?: number;
    generate?: number;
    batch?: number;
    weight_dtype?: string;
    total_params?: number;
    total_params_str?: string;
    active_params?: number;
    active_params_str?: string;
    prefill?: Phase;
    prefill_macs_last_logits?: number;
    decode?: Decode;
    total_macs?: number;
    total_macs_str?: string;
    total_flops?: number;
    total_flops_str?: string;
    kv_cache?: KvCache;
    memory?: ServeMemory;
    weights?: WeightFormat[];
    closed_forms?: ClosedForms;
    devices?: LanguageDevice[];
    measured?: MeasuredGeneration;
    expert_params?: number;
    experts?: number;
    experts_per_token?: number;
    title?: string;
    warnings?: Warning[];
}

export interface Phase {
    tokens_per_sequence?: number;
    context?: number;
    macs?: number;
    macs_str?: string;
    flops?: number;
    flops_str?: string;
    linear_macs?: number;
    attention_macs?: number;
    causal_macs?: number;
    bytes?: number;
    bytes_str?: string;
    weight_bytes?: number;
    cache_bytes?: number;
    activation_bytes?: number;
    arithmetic_intensity?: number;
    expected_distinct_experts?: number;
}

export interface Decode {
    steps?: number;
    macs?: number;
    macs_str?: string;
    flops?: number;
    flops_str?: string;
    bytes?: number;
    bytes_str?: string;
    first?: Phase;
    last?: Phase;
    average?: StepAverage;
}

export interface StepAverage {
    macs?: number;
    flops?: number;
    bytes?: number;
    arithmetic_intensity?: number;
}

export interface KvCache {
    dtype?: string;
    elements_per_token?: number;
    bytes_per_token?: number;
    bytes_per_token_str?: string;
    bytes?: number;
    bytes_str?: string;
    bytes_without_windows?: number;
    tokens?: number;
    layers?: CacheLayers[];
}

export interface CacheLayers {
    count: number;
    window: number | null;
    elements_per_token: number;
    prefill_macs_per_pair: number;
    decode_macs_per_key: number;
}

export interface ServeMemory {
    weight_bytes?: number;
    weight_bytes_str?: string;
    cache_bytes?: number;
    cache_bytes_str?: string;
    activation_peak_bytes?: number;
    activation_peak_bytes_str?: string;
    serve_bytes?: number;
    serve_bytes_str?: string;
    limit_bytes?: number;
    fits?: boolean;
    largest_context?: number | null;
    largest_batch?: number | null;
}

export interface WeightFormat {
    format: string;
    bits_per_weight?: number;
    bytes?: number;
}

export interface ClosedForms {
    variables?: string;
    prefill_macs?: string;
    decode_macs?: string;
    cache_bytes?: string;
    prefill_linear_macs_per_token?: number;
    decode_linear_macs_per_token?: number;
    head_macs_per_token?: number;
    crossing_tokens?: number;
    crossing_tokens_causal?: number;
}

export interface LanguageDevice {
    name: string;
    title?: string;
    fits?: boolean;
    memory_bytes?: number;
    largest_context?: number | null;
    largest_batch?: number | null;
    precision?: string;
    time_to_first_token_ms?: number;
    time_per_token_ms?: number;
    first_step_ms?: number;
    last_step_ms?: number;
    launch_ms_per_step?: number;
    total_seconds?: number;
    tokens_per_second?: number;
    prefill_tokens_per_second?: number;
    prefill_bound?: "compute" | "memory";
    decode_bound?: "compute" | "memory";
}

export interface MeasuredGeneration {
    time_to_first_token_ms?: number;
    first_step_ms?: number;
    last_step_ms?: number;
    time_per_token_ms?: number;
    total_seconds?: number;
    tokens_per_second?: number;
    prefill_tokens_per_second?: number;
    prefill_tflops_per_second?: number;
    decode_tflops_per_second?: number;
}

export interface DisabledPipeline {
    schema?: "assay.pipeline/1";
    kind?: "diffusion" | "language" | null;
    model?: string;
    enabled: false;
}

export interface Pipelines {
    schema?: "assay.pipelines/1";
    pipelines?: (DiffusionPipeline | LanguagePipeline | DisabledPipeline)[];
}

export type Pipeline = DiffusionPipeline | LanguagePipeline | DisabledPipeline;

// ---- assay.scaling/1 ----

export interface Scaling {
    schema?: "assay.scaling/1";
    model?: string;
    precision?: string;
    kv_cache?: "included" | "excluded" | "mixed";
    evaluations?: number;
    evaluations_with_assumptions?: number;
    axes?: ScalingAxis[];
    points?: ScalingPoint[];
    forms?: Record<string, ClosedForm>;
    answers?: ScalingAnswer[];
}

export interface ScalingAxis {
    name: string;
    kind?: string;
    symbol?: string;
    from?: number;
    to?: number;
    granule?: number;
    accepted?: number;
    values?: number[];
}

export interface ScalingPoint {
    sizes: Record<string, number>;
    macs?: number;
    flops?: number;
    traffic_bytes?: number;
    parameters?: number;
    activations_peak_bytes?: number;
    peak_bytes?: number;
    training_bytes?: number;
    refused?: string;
}

export interface ClosedForm {
    form?: string | null;
    exact?: boolean;
    checked?: number;
    error_percent?: number | null;
    between_multiples?: BetweenMultiples;
    exponents?: Record<string, FittedExponent>;
    terms?: FormTerm[];
}

export interface BetweenMultiples {
    checked?: number;
    error_percent?: number | null;
}

export interface FittedExponent {
    fitted?: number | null;
    first?: number | null;
    last?: number | null;
}

export interface FormTerm {
    coefficient: number | null;
    numerator?: number;
    denominator?: number;
    powers: Record<string, number>;
}

export interface ScalingAnswer {
    question: string;
    metric: string;
    limit: number;
    axis: string;
    sizes: Record<string, number>;
    outcome: "found" | "none" | "always";
    value: number | null;
    tried: number;
    figure: number;
    next: number | null;
    next_figure: number | null;
    outside_range: boolean;
}

// ---- assay.validation/1 ----

export interface Validation {
    schema?: "assay.validation/1";
    models?: ValidatedModel[];
}

export interface ValidatedModel {
    model: string;
    lens?: string;
    unit?: string;
    ours?: number;
    theirs?: number;
    difference_percent?: number | null;
    accuracy_percent?: number | null;
    parameters?: number;
    assumed?: number;
    unknown?: number;
    recorded?: RecordedCount | null;
    live?: LiveCount;
    operators?: OperatorCount[];
}

export interface RecordedCount {
    count?: number;
    setup?: string;
    equal?: boolean;
}

export interface LiveCount {
    count?: number;
    version?: string;
    equal?: boolean;
    error?: string;
}

export interface OperatorCount {
    type: string;
    ours: number;
    theirs: number;
}

// ---- assay.check/1 ----

export interface Check {
    schema?: "assay.check/1";
    model?: string;
    verdict?: "pass" | "improvement" | "inconclusive" | "regression" | "missed";
    baseline?: string;
    baseline_timestamp?: string;
    tolerance_percent?: number;
    allowance_percent?: number;
    checks?: CheckRow[];
    layers_moved?: number;
    moved?: MovedLayer[];
    types_moved?: MovedType[];
    notes?: string[];
}

export interface CheckRow {
    metric: string;
    unit?: "ms" | "bytes" | "count" | "1/s" | "percent" | "number";
    verdict?: "pass" | "improvement" | "not judged" | "inconclusive" | "regression" | "missed";
    value?: number;
    operator?: "<=" | ">=";
    limit?: number;
    baseline?: number;
    ratio?: number;
    ratio_ci99_low?: number;
    ratio_ci99_high?: number;
    why?: string;
}

export interface MovedLayer {
    change: "removed" | "added" | "changed" | "reshaped" | "same";
    layer: string;
    type: string;
    shapes: string;
    attributes?: string;
    macs: number;
    parameters: number;
    memory: number;
    peak_bytes: number;
    time_ms?: number;
}

export interface MovedType {
    type: string;
    layers: number;
    count: number;
    macs: number;
    parameters: number;
    memory: number;
}

// ---- assay.capacity/1 ----

export interface Capacity {
    schema?: "assay.capacity/1";
    model?: string;
    target_requests_per_second?: number;
    quantile?: number | null;
    latency_limit_ms?: number | null;
    headroom?: number;
    best?: number | null;
    plans?: CapacityPlan[];
    notes?: string[];
}

export interface CapacityPlan {
    source: string;
    batch?: number;
    precision?: string;
    concurrency?: number;
    runs?: number;
    feasible?: boolean;
    why?: string;
    requests_per_second_most?: number;
    machines?: number;
    requests_per_second?: number;
    utilization?: number;
    latency_quantile_ms?: number;
    latency_mean_ms?: number;
    forming_mean_ms?: number;
    waiting_mean_ms?: number;
    service_mean_ms?: number;
    in_flight?: number;
}

// ---- assay.trend/1 ----

export interface Trend {
    schema?: "assay.trend/1";
    model?: string;
    metric?: string;
    title?: string;
    unit?: "ms" | "bytes" | "count" | "1/s" | "percent" | "number";
    more_is_better?: boolean;
    setup?: string;
    left_out?: number;
    older?: number;
    newest?: number | null;
    median?: number | null;
    mean?: number | null;
    min?: number | null;
    max?: number | null;
    points?: TrendPoint[];
    change_points?: ChangePoint[];
    alerts?: TrendAlert[];
}

export interface TrendPoint {
    id: number;
    created: string;
    value: number;
}

export interface ChangePoint {
    index: number;
    id?: number;
    created?: string;
    before?: number;
    after?: number;
    ratio?: number | null;
    p?: number;
    verdict?: "better" | "worse";
}

export interface TrendAlert {
    expression: string;
    verdict: "fired" | "quiet" | "inconclusive";
    value: number | null;
    limit: number | null;
    window_runs: number;
    why: string;
}

// ---- assay.runs/1 ----

export interface Runs {
    schema?: "assay.runs/1";
    total?: number;
    runs?: Run[];
}

export interface Run {
    id: number;
    kind?: "profile" | "pipeline" | "machine" | "watch";
    model: string;
    created?: string;
    command?: string | null;
    host?: string | null;
    precision?: string | null;
    device?: string | null;
    batch?: number | null;
    p50_ms?: number | null;
    p95_ms?: number | null;
    mean_ms?: number | null;
    throughput?: number | null;
    memory_bytes?: number | null;
    macs?: number | null;
    parameters?: number | null;
    tags?: string[];
}

// ---- assay.models/1 ----

export interface Models {
    schema?: "assay.models/1";
    models?: SavedModel[];
}

export interface SavedModel {
    model: string;
    runs?: number;
    newest?: Run;
}

// ---- assay.machine/1 ----

export interface Machine {
    schema?: "assay.machine/1";
    timestamp?: string;
    context?: Context;
    tool_version?: string;
    quick?: boolean;
    seconds?: number;
    steal_percent?: number | null;
    topology?: Topology;
    instruction_sets?: string[];
    compute?: ComputeCeiling[];
    bandwidth?: BandwidthCeiling[];
    bandwidth_by_set?: BandwidthOfSet[];
    dispatch?: DispatchCost;
    calibration?: MachineCalibration;
}

export interface Topology {
    cpu?: string;
    machine?: string;
    host?: string;
    os?: string;
    sockets?: number;
    cores?: number;
    processors?: number;
    threads_per_core?: number;
    usable_processors?: number;
    quota_processors?: number | null;
    numa_nodes?: number;
    caches?: Cache[];
    memory_bytes?: number;
    mhz?: number | null;
    mhz_min?: number | null;
    mhz_max?: number | null;
    mhz_base?: number | null;
    governor?: string;
    clock_driver?: string;
    hypervisor?: string;
    container?: string;
    steal_percent_since_boot?: number | null;
}

export interface Cache {
    level: number;
    kind: string;
    size_bytes: number;
    line_bytes: number;
    ways: number;
    instances: number;
    shared_by: number;
}

export interface ComputeCeiling {
    dtype: string;
    isa: string;
    threads: number;
    operations_per_second: Estimate;
}

export interface Estimate {
    value?: number;
    low?: number;
    high?: number;
    spread?: number;
    samples?: number;
}

export interface BandwidthCeiling {
    level: "L1" | "L2" | "L3" | "L4" | "DRAM";
    kind: "read" | "write" | "copy" | "triad";
    threads: number;
    set_bytes: number;
    bytes_per_second: Estimate;
}

export interface BandwidthOfSet {
    set_bytes: number;
    read: number;
    triad: number;
}

export interface DispatchCost {
    measured?: boolean;
    engine?: string;
    seconds?: Estimate;
}

export interface MachineCalibration {
    present?: boolean;
    engine?: string;
    threads?: number;
    seconds?: number;
    scale?: number;
    kernel_s?: number;
    interval_low?: number;
    interval_high?: number;
    median_error?: number;
    left_out?: CalibrationCheck[];
    families?: KernelFamily[];
    folds?: CalibrationFold[];
}

export interface CalibrationCheck {
    model: string;
    batch: number;
    measured_s: number;
    predicted_s: number;
}

export interface KernelFamily {
    name: string;
    coefficients: number[];
    samples: number;
    median_error: number;
}

export interface CalibrationFold {
    pair: number;
    seen: number;
    folded: number;
}
