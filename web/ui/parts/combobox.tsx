import { ChevronDown } from "lucide";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ui } from "../ui-words.ts";
import { Field } from "./field.tsx";
import { Icon } from "./icon.tsx";

/** A search result: the value to store, and its meaning. */
export interface Found {
  value: string;
  label: string;
}

interface ComboboxProps {
  label: string;
  labelHidden?: boolean;
  hint?: string;
  error?: string | undefined;
  optional?: boolean;
  name?: string;
  value: string;
  onInput: (value: string) => void;
  /** Finds values by prefix or by words of their meaning; "" finds the first ones. */
  search: (text: string, signal: AbortSignal) => Promise<readonly Found[]>;
}

const rest = 150; // milliseconds without a key press before it searches

/**
 * One of many values, found by typing: a catalogue key, a customer. Typed text that is not chosen is discarded, unless it is a value
 * itself. Arrow keys move through the results, Enter takes one (or the first result of a pending search), Escape closes the list.
 */
export function Combobox({ value, onInput, search, hint, ...field }: ComboboxProps) {
  const id = useId();
  const [text, setText] = useState(value);
  const [open, setOpen] = useState(false);
  const [found, setFound] = useState<readonly Found[] | undefined>();
  const [at, setAt] = useState(-1);
  const [means, setMeans] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const running = useRef<AbortController | null>(null);
  const foundFor = useRef<string | undefined>(undefined); // the text whose results are shown
  const typed = useRef(text); // text as it is now, not as it was when a search began
  typed.current = text;
  const chosen = useRef<string | undefined>(undefined); // the last value chosen here
  const entered = useRef(false); // Enter was pressed before the results arrived

  const look = async (sought: string): Promise<readonly Found[] | undefined> => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    try {
      const got = await search(sought, mine.signal);
      return mine.signal.aborted ? undefined : got;
    } catch {
      return mine.signal.aborted ? undefined : []; // the next key press retries
    }
  };
  useEffect(() => { // set from outside: a value chosen here is already shown, and the user may be typing again
    if (value === chosen.current) return;
    chosen.current = undefined;
    setText(value);
    setMeans("");
    if (value === "") return;
    const mine = new AbortController();
    void search(value, mine.signal).then((got) => { if (!mine.signal.aborted) setMeans(got.find((f) => f.value === value)?.label ?? ""); }, () => {});
    return () => mine.abort();
  }, [value]);
  useEffect(() => {
    if (!open) return;
    const timer = setTimeout(() => {
      void look(text === value ? "" : text).then((got) => {
        if (got === undefined || text !== typed.current) return; // more was typed, and its own search is about to begin
        foundFor.current = text;
        if (entered.current && got[0]) { choose(got[0]); return; }
        entered.current = false;
        setFound(got);
        setAt(text !== value && got.length > 0 ? 0 : got.findIndex((f) => f.value === value));
      });
    }, found === undefined ? 0 : rest);
    return () => clearTimeout(timer);
  }, [open, text]);
  useEffect(() => { list.current?.children[at]?.scrollIntoView({ block: "nearest" }); }, [at, found]);
  useEffect(() => () => running.current?.abort(), []);

  const close = () => { entered.current = false; foundFor.current = undefined; setOpen(false); setFound(undefined); setAt(-1); };
  const choose = (f: Found) => { chosen.current = f.value; setText(f.value); setMeans(f.label); close(); if (f.value !== value) onInput(f.value); };
  const leave = () => {
    const exact = found?.find((f) => f.value.toLowerCase() === text.trim().toLowerCase());
    if (exact) choose(exact);
    else if (text.trim() === "") { close(); if (value !== "") { chosen.current = ""; setMeans(""); onInput(""); } }
    else { setText(value); close(); }
  };
  const press = (event: KeyboardEvent) => {
    const n = found?.length ?? 0;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) setOpen(true);
      else if (n > 0) setAt((event.key === "ArrowDown" ? at + 1 : at - 1 + n + (at < 0 ? 1 : 0)) % n);
    } else if (event.key === "Enter" && (open || text !== value)) {
      event.preventDefault(); // the form must not be submitted without the typed value
      setOpen(true);
      const f = found?.[at];
      if (foundFor.current !== text) entered.current = text !== value;
      else if (f) choose(f);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation(); // closes the list, not the surrounding dialog
      setText(value);
      close();
    }
  };
  const said = [means, hint].filter(Boolean).join(" · ");
  return (
    <Field {...field} {...(said ? { hint: said } : {})}>
      {(attributes) => (
        <span class="combobox">
          <input class="input" {...attributes} type="text" role="combobox" autocomplete="off" spellcheck={false} value={text}
            aria-expanded={open} aria-controls={`${id}-list`} aria-autocomplete="list" aria-activedescendant={open && at >= 0 ? `${id}-${at}` : undefined}
            onInput={(e) => { entered.current = false; setText(e.currentTarget.value); setOpen(true); }} onClick={() => setOpen(true)} onBlur={leave} onKeyDown={press} />
          <Icon of={ChevronDown} size={16} />
          {open && found !== undefined && (
            <ul ref={list} id={`${id}-list`} class="combobox-list" role="listbox" aria-label={field.label} onMouseDown={(e) => e.preventDefault()}>
              {found.map((f, n) => (
                <li key={f.value} id={`${id}-${n}`} role="option" aria-selected={n === at} class="combobox-option" onClick={() => choose(f)}>
                  <b>{f.value}</b><span>{f.label}</span>
                </li>
              ))}
              {found.length === 0 && <li class="combobox-none muted" role="option" aria-disabled="true" aria-selected={false}>{ui("noMatch")}</li>}
            </ul>
          )}
        </span>
      )}
    </Field>
  );
}
