// What the pages of the dashboard share.
import type { Shown } from "../envelope";
import type { Shell } from "../shell";

export interface State {
    frame: Shell;
    shown: Shown;
    selected: Map<number, string>; // records to compare: id and model
    links: HTMLElement[];
    turn: number; // counts pages that were asked for
    reload: () => void;
    live?: () => void; // ends the events, once they are listened to
}
