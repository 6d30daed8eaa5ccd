// Where a result comes from: the model, the machine, the command.
import { h, type Child } from "../dom";
import { nameOf } from "../documents";
import * as f from "../format";
import type { ColdStart, Host, Profile, ProfileEngine, ProfileTensor, Utilization } from "../types";
import { facts, pair, panel, section, valueList } from "../ui";

const breakable = (text: string | null | undefined): Child =>
    text && h("code", { class: "break" }, text);

function tensors(list: ProfileTensor[] | undefined): Child {
    if (!list?.length) return null;
    const about = (t: ProfileTensor) => `${f.shape(t.shape)} ${t.dtype ?? ""}`;
    return valueList(list.map((t) => ({ name: t.name, about: about(t) })));
}

function model(p: Profile): HTMLElement {
    const k = p.config ?? {};
    const types = Object.entries(p.architecture?.weights_by_dtype ?? {});
    const weights = types.map(([type, w]) => `${type} ${f.bytes(w.bytes)}`).join(", ");
    return panel(
        "Model",
        facts([
            ["Name", nameOf(p)],
            ["Format", k.format],
            ["Opset", k.opset ? `${k.opset}, IR ${k.ir_version ?? "?"}` : null],
            ["Producer", k.producer],
            ["Precision", k.precision],
            ["Configuration", k.config_file],
            ["SHA-256", breakable(p.context?.model_sha256)],
            ["Inputs", tensors(k.inputs)],
            ["Outputs", tensors(k.outputs)],
            ["Weights", weights],
            ["Counted as", p.lens && p.lens !== "assay" ? `${p.lens} does` : null],
        ]),
    );
}

function hostLine(host: Host): string | null {
    if (!host.cpu) return null;
    return `${host.cpu}, ${host.cores ?? "?"} cores, ${f.bytes(host.memory_bytes)}`;
}

function loadLine(e: ProfileEngine): string {
    if (f.isNumber(e.rate)) return `${e.rate} requests per second`;
    return `closed loop, ${e.concurrency ?? 1} at once`;
}

function coldLine(c: ColdStart): string {
    const session = `engine ${f.ms(c.engine_ms)}, session ${f.ms(c.session_ms)}`;
    return `${session}, first run ${f.ms(c.first_run_ms)}`;
}

function resourceLine(u: Utilization): string {
    return [
        `${f.percent(u.cpu_percent, 0)} of a core`,
        `${f.whole(u.involuntary_switches)} switches`,
        `${f.whole(u.major_faults)} major faults`,
        ...(f.isNumber(u.steal_percent) ? [`${f.percent(u.steal_percent)} stolen`] : []),
        ...(f.isNumber(u.energy_j) ? [`${f.fixed(u.energy_j, 1)} J`] : []),
    ].join(", ");
}

function diskLine(p: Profile): string | null {
    if (!f.isNumber(p.io?.read_bytes)) return null;
    return `${f.bytes(p.io.read_bytes)} read, ${f.bytes(p.io.written_bytes)} written`;
}

function circumstances(p: Profile): HTMLElement {
    const c = p.context ?? {};
    const host = c.host ?? {};
    const e = c.engine;
    return panel(
        "Where and when",
        facts([
            ["Made", f.day(c.timestamp)],
            ["By", c.tool_version ? `assay ${c.tool_version}` : null],
            ["Command", breakable(c.command)],
            ["Host", hostLine(host)],
            ["System", host.os ? `${host.os} ${host.machine ?? ""}` : null],
            ["Clock governor", c.governor],
            ["Engine", e && `${e.title ?? e.name} ${e.version ?? ""} on ${e.device ?? "?"}`],
            ["Threads", e && (e.threads ? String(e.threads) : "the engine's choice")],
            ["Load", e && loadLine(e)],
            ["Cold start", p.cold_start && coldLine(p.cold_start)],
            ["Resources", p.utilization && resourceLine(p.utilization)],
            ["Disk", diskLine(p)],
        ]),
    );
}

export function contextView(p: Profile): HTMLElement {
    return section("context", "Context", pair(model(p), circumstances(p)));
}
