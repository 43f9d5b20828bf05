import type { PageAction, PageResult } from '../../slack/page-api.ts';
import { changeScreen, getScreen, type Notice } from './state.ts';

type WithoutAs<Action> = Action extends PageAction ? Omit<Action, 'as'> : never;

type ClientAction = WithoutAs<PageAction>;

const NOTICE_MS = 6000;
let notices = 0;
let handle = (action: ClientAction) => postAction<PageResult>('/page/do', { as: getScreen().as, ...action });

/** Performs an action and waits for the app's acknowledgement; a refusal is left to the caller. */
export function perform(action: ClientAction): Promise<PageResult> {
  return handle(action);
}

/** Replaces the handler of actions: the gallery has no app to send them to. */
export function handleActionsWith(handler: (action: ClientAction) => Promise<PageResult>): void {
  handle = handler;
}

/** Posts an action to the sandbox; where that fails, the result says so like a refusal. */
export async function postAction<Result>(
  path: string,
  action: object,
): Promise<Result | { readonly ok: false; readonly error: string; readonly words: string }> {
  try {
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(action),
    });
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    if (isJson) return (await answer.json()) as Result;
    return { ok: false, error: 'sandbox_failed', words: `The sandbox failed: ${await answer.text()}` };
  } catch {
    return { ok: false, error: 'unreachable', words: 'The sandbox isn’t answering. Is it still running?' };
  }
}

/** Performs an action; a refusal is shown at the top of the page. */
export async function performWithNotice(action: ClientAction): Promise<PageResult> {
  const done = await perform(action);
  if (!done.ok) showNotice(done.words);
  return done;
}

export function showNotice(words: string): void {
  notices += 1;
  const notice = { id: notices, words };
  // A repeated notice replaces the earlier one.
  const others = (all: readonly Notice[]) => all.filter((each) => each.words !== words);
  changeScreen((screen) => ({ ...screen, notices: [...others(screen.notices), notice] }));
  setTimeout(() => dismissNotice(notice.id), NOTICE_MS);
}

export function dismissNotice(id: number): void {
  changeScreen((screen) => ({ ...screen, notices: screen.notices.filter((each) => each.id !== id) }));
}
