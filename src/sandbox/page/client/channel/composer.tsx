import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { PageChannel, PageState } from '../../../slack/page-api.ts';
import { Icon } from '../icon.tsx';
import { CompletionList } from './completion-list.tsx';
import { ShortcutsButton } from './shortcuts.tsx';
import { type ComposerState, takeKey, useComposer } from './use-composer.ts';

const MAX_HEIGHT_PX = 200;

interface ComposerProps {
  readonly channel: PageChannel;
  readonly state: PageState;
  /** The first message of the open thread, to which it replies; empty: the channel itself. */
  readonly thread: string;
}

/** The message field: a line with / is a command, Enter sends, arrow up recalls earlier lines. */
export function Composer({ channel, state, thread }: ComposerProps) {
  const frame = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const composer = useComposer(channel, state, thread);
  const { text, sending, completions, at, change, send, dismiss } = composer;
  const target = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  return (
    <div class="composer-frame">
      {completions.length > 0 && (
        <CompletionList
          id={listId}
          anchor={frame}
          completions={completions}
          at={at}
          onChoose={({ text: whole }) => {
            change(whole);
            field.current?.focus();
          }}
          onClose={dismiss}
        />
      )}
      <div ref={frame} class="composer">
        <ShortcutsButton shortcuts={state.shortcuts} />
        <Field
          field={field}
          composer={composer}
          listId={listId}
          target={target}
          placeholder={placeholderFor(target, state, thread)}
        />
        <SendButton isDisabled={text.trim() === ''} onSend={send} />
      </div>
      <div class="composer-note" role="status">
        {sending && <Sending line={sending} />}
      </div>
    </div>
  );
}

function placeholderFor(target: string, { commands }: PageState, thread: string): string {
  if (thread) return 'Reply…';
  return `Message ${target}${commands.length > 0 ? ', or / for commands' : ''}`;
}

function SendButton({ isDisabled, onSend }: { isDisabled: boolean; onSend: () => void }) {
  return (
    <button type="button" class="send" aria-label="Send" aria-disabled={isDisabled} onClick={onSend}>
      <Icon name="send" />
    </button>
  );
}

function Sending({ line }: { readonly line: string }) {
  return (
    <>
      <span class="spinner" aria-hidden="true" /> Sending {line.split(' ').slice(0, 2).join(' ')}…
    </>
  );
}

interface FieldProps {
  readonly field: RefObject<HTMLTextAreaElement>;
  readonly composer: ComposerState;
  readonly listId: string;
  /** To whom: "#ops". */
  readonly target: string;
  readonly placeholder: string;
}

function Field({ field, composer, listId, target, placeholder }: FieldProps) {
  const { text, completions, at, change } = composer;
  const isShown = completions.length > 0;
  useFieldSize(field, text);
  return (
    <textarea
      ref={field}
      rows={1}
      value={text}
      placeholder={placeholder}
      aria-label={`Message ${target}`}
      role="combobox"
      aria-expanded={isShown}
      aria-controls={isShown ? listId : undefined}
      aria-activedescendant={isShown ? `${listId}-${at}` : undefined}
      aria-autocomplete="list"
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (!event.isComposing && takeKey(event, composer)) event.preventDefault();
      }}
    />
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
