// Results that the field tables do not describe yet; types.ts has the others.
import type { Context, Note, Shape } from "./types";

export interface Comparison {
    schema?: "assay.comparison/1";
    conclusion?: string;
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
    verdict?: "faster" | "slower" | "no difference" | "inconclusive" | "not run";
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
    warnings?: Note[];
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
    warnings?: Note[];
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
    ttft_ms?: number;
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
    ttft_ms?: number;
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
