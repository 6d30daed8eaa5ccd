// Asks for the server's token.
import { setToken } from "../api";
import { h } from "../dom";
import type { Page } from "../shell";
import { alert, field, section } from "../ui";

export function tokenPage(again: () => void, wrong: boolean): Page {
    const input = h("input", {
        type: "password",
        autocomplete: "current-password",
        "aria-label": "Token",
        required: true,
    });
    const submit = (e: Event) => {
        e.preventDefault();
        setToken(input.value);
        again();
    };
    const where =
        "It was printed by assay serve when it was started, or set with its --token option.";
    const card = h(
        "div",
        { class: "card" },
        h("p", null, where),
        wrong && alert("That token is not the right one."),
        h(
            "form",
            { class: "controls", onsubmit: submit },
            field("Token", input),
            h("button", { class: "small main" }, "Go on"),
        ),
    );
    return {
        title: "assay",
        nav: false,
        sections: [section("token", "Token required", card)],
    };
}
