import type { PageDeed, PageDone } from '../../slack/page-api.ts';
import type { Notice } from './state/screen.ts';
import { changeScreen, getScreen } from './state/store.ts';

type WithoutAs<Deed> = Deed extends PageDeed ? Omit<Deed, 'as'> : never;

/** What the person who sits here does. */
export type Deed = WithoutAs<PageDeed>;

const NOTICE_MS = 6000;
let notices = 0;
let answer = askSandbox;

/** Does it and waits for the app's acknowledgement; says nothing when it is refused. */
export function perform(deed: Deed): Promise<PageDone> {
  return answer(deed);
}

/** From now on deeds go elsewhere than to the app: in the gallery there is none. */
export function answerDeeds(other: (deed: Deed) => Promise<PageDone>): void {
  answer = other;
}

async function askSandbox(deed: Deed): Promise<PageDone> {
  try {
    const got = await fetch('/page/do', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ as: getScreen().as, ...deed }),
    });
    const isJson = got.headers.get('content-type')?.startsWith('application/json');
    if (isJson) return (await got.json()) as PageDone;
    return { ok: false, error: 'sandbox_failed', words: `The sandbox failed: ${await got.text()}` };
  } catch {
    return { ok: false, error: 'unreachable', words: 'The sandbox does not answer. Is it still running?' };
  }
}

/** Does it; a refusal is shown at the top of the page. */
export async function performAloud(deed: Deed): Promise<PageDone> {
  const done = await perform(deed);
  if (!done.ok) tell(done.words);
  return done;
}

/** Shows words for a few seconds. */
export function tell(words: string): void {
  notices += 1;
  const notice = { id: notices, words };
  // The same once more, later: one is enough.
  const others = (all: readonly Notice[]) => all.filter((each) => each.words !== words);
  changeScreen((screen) => ({ ...screen, notices: [...others(screen.notices), notice] }));
  setTimeout(() => dismiss(notice.id), NOTICE_MS);
}

/** Takes a notice away. */
export function dismiss(id: number): void {
  changeScreen((screen) => ({ ...screen, notices: screen.notices.filter((each) => each.id !== id) }));
}
