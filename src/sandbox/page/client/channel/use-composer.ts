import { useLayoutEffect, useState } from 'preact/hooks';
import type { PageChannel, PageState } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { useExtras } from '../state/extras.ts';
import { changeScreen, useScreen } from '../state/store.ts';
import { complete } from './complete.ts';
import { recall, rememberSent } from './sent-lines.ts';

/** Unsent text of each channel, by user and channel. */
const unsent = new Map<string, string>();

/** The state of the composer: its text, completions, and what keys do. */
export function useComposer(channel: PageChannel, state: PageState, thread: string) {
  const { text, change, dismiss, isUnsent, ...completing } = useCompletedText(channel, state, thread);
  const [sending, setSending] = useState('');
  const [back, setBack] = useState(0);
  const send = async (): Promise<void> => {
    const line = text.trim();
    if (line === '') return;
    change('');
    setBack(0);
    rememberSent(line);
    setSending(line);
    const kind = line.startsWith('/') ? 'command' : 'message';
    const place = { channel: channel.id, ...(thread ? { threadTs: thread } : {}) };
    const done = await performWithNotice({ do: kind, ...place, text: line });
    setSending('');
    // A refused line comes back to be corrected, unless the next one has been started.
    if (!done.ok && !isUnsent()) change(line);
  };
  const stepBack = (step: number): void => {
    const { line, steps } = recall(back + step);
    setBack(steps);
    change(line);
    dismiss();
  };
  useInsertedText((words) => {
    change(words);
    // The text is complete: Enter sends it.
    dismiss();
  });
  return { ...completing, text, sending, isRecalling: back > 0, change, send, stepBack, dismiss };
}

/** The text of a channel's composer, and what it can be completed to. */
function useCompletedText(channel: PageChannel, state: PageState, thread: string) {
  const key = `${state.as.id}/${channel.id}/${thread}`;
  const [text, setText] = useState(unsent.get(key) ?? '');
  const [isDismissed, setDismissed] = useState(false);
  const [active, setActive] = useState(0);
  const { subcommands } = useExtras();
  const found = isDismissed ? [] : complete(text, state, subcommands);
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

/** Takes over text that another part of the page put into the composer. */
function useInsertedText(take: (words: string) => void): void {
  const insertedText = useScreen((screen) => screen.insertedText);
  useLayoutEffect(() => {
    if (insertedText === null) return;
    take(insertedText);
    changeScreen({ insertedText: null });
    // Wait until the drawer has closed.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.composer textarea')?.focus());
  }, [insertedText]);
}

export type ComposerState = ReturnType<typeof useComposer>;

/** Does what a key means in the composer; false when it is only typing. */
export function takeKey({ key, shiftKey }: KeyboardEvent, composer: ComposerState): boolean {
  const { text, completions, at, isRecalling } = composer;
  const chosen = completions[at];
  // Enter takes a completion only if it adds something; a complete command is sent.
  const isWhole = chosen?.text.trimEnd() === text.trimEnd();
  const isSend = key === 'Enter' && !shiftKey;
  if (chosen && (key === 'Tab' || (isSend && !isWhole))) composer.change(chosen.text);
  else if (chosen && key === 'ArrowDown') composer.move(1);
  else if (chosen && key === 'ArrowUp') composer.move(-1);
  else if (isSend) void composer.send();
  else if (key === 'ArrowUp' && (text === '' || isRecalling)) composer.stepBack(1);
  else if (key === 'ArrowDown' && isRecalling) composer.stepBack(-1);
  else return false;
  return true;
}
