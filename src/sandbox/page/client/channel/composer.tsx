import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageChannel, PageShortcut, PageState } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { MenuButton, OptionRow, Popup } from '../elements/popup.tsx';
import { Icon } from '../icon.tsx';
import { changeScreen, useScreen } from '../state.ts';

const MAX_HEIGHT_PX = 200;

interface ComposerProps {
  readonly channel: PageChannel;
  readonly state: PageState;
  /** The first message of the open thread, to which it replies; empty: the channel itself. */
  readonly thread: string;
}

/** The message field: a line with / is a command, Enter sends. */
export function Composer({ channel, state, thread }: ComposerProps) {
  const frame = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const composer = useComposer(channel, state, thread);
  const { text, sending, completions, at, change, send, dismiss } = composer;
  const target = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  const hint = state.commands.length > 0 ? ', or / for commands' : '';
  const isCompleting = completions.length > 0;
  useFieldSize(field, text);
  return (
    <div class="composer-frame">
      {isCompleting && (
        <Popup anchor={frame} onClose={dismiss} above wide="same">
          <div id={listId} role="listbox" aria-label="Completions" class="options" tabIndex={-1}>
            {completions.map((completion, index) => (
              <OptionRow
                key={completion.title}
                id={`${listId}-${index}`}
                isActive={index === at}
                isChosen={index === at}
                onChoose={() => {
                  change(completion.text);
                  field.current?.focus();
                }}
              >
                <span class="completion-title">{completion.title}</span>
                <span class="quiet option-description">{completion.detail}</span>
              </OptionRow>
            ))}
          </div>
        </Popup>
      )}
      <div ref={frame} class="composer">
        <ShortcutsButton shortcuts={state.shortcuts} />
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder={thread ? 'Reply…' : `Message ${target}${hint}`}
          aria-label={`Message ${target}`}
          role="combobox"
          aria-expanded={isCompleting}
          aria-controls={isCompleting ? listId : undefined}
          aria-activedescendant={isCompleting ? `${listId}-${at}` : undefined}
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!event.isComposing && takeKey(event, composer)) event.preventDefault();
          }}
        />
        <button
          type="button"
          class="send"
          aria-label="Send"
          aria-disabled={text.trim() === ''}
          onClick={send}
        >
          <Icon name="send" />
        </button>
      </div>
      <div class="quiet composer-note" role="status">
        {sending && (
          <>
            <span class="spinner" aria-hidden="true" /> Sending {sending.split(' ').slice(0, 2).join(' ')}…
          </>
        )}
      </div>
    </div>
  );
}

/** The field grows with its text, and has the focus where that brings up no keyboard on the screen. */
function useFieldSize(field: RefObject<HTMLTextAreaElement>, text: string): void {
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = 'auto';
    current.style.height = `${Math.min(current.scrollHeight, MAX_HEIGHT_PX)}px`;
  }, [field, text]);
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) field.current?.focus();
  }, [field]);
}

/** Unsent text of each channel, by user and channel. */
const unsent = new Map<string, string>();

function useComposer(channel: PageChannel, state: PageState, thread: string) {
  const { text, change, dismiss, isUnsent, ...completing } = useCompletedText(channel, state, thread);
  const [sending, setSending] = useState('');
  const send = async (): Promise<void> => {
    const line = text.trim();
    if (line === '') return;
    change('');
    setSending(line);
    const kind = line.startsWith('/') ? 'command' : 'message';
    const place = { channel: channel.id, ...(thread ? { threadTs: thread } : {}) };
    const done = await performWithNotice({ do: kind, ...place, text: line });
    setSending('');
    // A refused line comes back to be corrected, unless the next one has been started.
    if (!done.ok && !isUnsent()) change(line);
  };
  // Text that another part of the page put into the composer. It is complete: Enter sends it.
  const insertedText = useScreen((screen) => screen.insertedText);
  useLayoutEffect(() => {
    if (insertedText === null) return;
    change(insertedText);
    dismiss();
    changeScreen({ insertedText: null });
    // Wait until the drawer has closed.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.composer textarea')?.focus());
  }, [insertedText]);
  return { ...completing, text, sending, change, send, dismiss };
}

function useCompletedText(channel: PageChannel, state: PageState, thread: string) {
  const key = `${state.as.id}/${channel.id}/${thread}`;
  const [text, setText] = useState(unsent.get(key) ?? '');
  const [isDismissed, setDismissed] = useState(false);
  const [active, setActive] = useState(0);
  const complete = text.startsWith('/') ? completeCommand : completeName;
  const found = isDismissed ? [] : complete(text, state);
  const completions = found[0]?.text === text ? [] : found;
  const at = Math.max(0, Math.min(active, completions.length - 1));
  const change = (next: string): void => {
    setText(next);
    unsent.set(key, next);
    setDismissed(false);
    setActive(0);
  };
  const move = (step: number): void => setActive((at + step + completions.length) % completions.length);
  const dismiss = (): void => setDismissed(true);
  const isUnsent = (): boolean => Boolean(unsent.get(key));
  return { text, completions, at, change, move, dismiss, isUnsent };
}

type ComposerState = ReturnType<typeof useComposer>;

/** Does what a key means in the composer; false when it is only typing. */
function takeKey({ key, shiftKey }: KeyboardEvent, composer: ComposerState): boolean {
  const { text, completions, at } = composer;
  const chosen = completions[at];
  // Enter takes a completion only if it adds something; a complete command is sent.
  const isWhole = chosen?.text.trimEnd() === text.trimEnd();
  const isSend = key === 'Enter' && !shiftKey;
  if (chosen && (key === 'Tab' || (isSend && !isWhole))) composer.change(chosen.text);
  else if (chosen && key === 'ArrowDown') composer.move(1);
  else if (chosen && key === 'ArrowUp') composer.move(-1);
  else if (isSend) void composer.send();
  else return false;
  return true;
}

/** Something that can be completed, and what the composer's text becomes. */
interface Completion {
  readonly title: string;
  readonly detail: string;
  readonly text: string;
}

const SHOWN = 12;

/** Completes the command, and the names after it. */
function completeCommand(typed: string, state: PageState): Completion[] {
  if (typed.includes(' ')) return completeName(typed, state);
  return state.commands
    .filter(({ command }) => command.startsWith(typed.toLowerCase()))
    .map(({ command, description, usageHint }) => ({
      title: `${command} ${usageHint}`.trim(),
      detail: description,
      text: `${command} `,
    }));
}

function completeName(typed: string, { people, groups, channels }: PageState): Completion[] {
  const match = /(^|\s)([@#])([\w.-]*)$/.exec(typed);
  if (!match) return [];
  const [, , sign = '', started = ''] = match;
  const before = typed.slice(0, typed.length - started.length - 1);
  const wanted = started.toLowerCase();
  const mentionable = [
    ...people
      .filter(({ isDeactivated }) => !isDeactivated)
      .map(({ name, realName }) => ({ name, detail: realName })),
    ...groups.map(({ handle, name }) => ({ name: handle, detail: name })),
  ];
  const rooms = channels.filter(({ kind }) => kind !== 'dm').map(({ name }) => ({ name, detail: '' }));
  const isStart = ({ name }: { readonly name: string }) => Number(name.toLowerCase().startsWith(wanted));
  return (
    (sign === '@' ? mentionable : rooms)
      .filter(({ name, detail }) => `${name} ${detail}`.toLowerCase().includes(wanted))
      // Handles that start with what was typed come before those where only the full name has it.
      .toSorted((one, other) => isStart(other) - isStart(one))
      .slice(0, SHOWN)
      .map(({ name, detail }) => ({ title: `${sign}${name}`, detail, text: `${before}${sign}${name} ` }))
  );
}

function ShortcutsButton({ shortcuts }: { readonly shortcuts: readonly PageShortcut[] }) {
  const global = shortcuts.filter(({ type }) => type === 'global');
  if (global.length === 0) return null;
  const items = global.map(({ callbackId, name }) => ({
    words: name,
    choose: () => void performWithNotice({ do: 'shortcut', callbackId }),
  }));
  return (
    <MenuButton class="icon-button" label="Shortcuts" menu="Shortcuts" items={items}>
      <Icon name="plus" />
    </MenuButton>
  );
}
