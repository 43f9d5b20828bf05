import type { Hosting } from '../../src/sandbox/hosting/start.ts';
import type { StoredMessage } from '../../src/sandbox/slack/messages.ts';
import { APP, type UserName } from '../../src/sandbox/slack/workspace.ts';
import type { LocalSlack } from './slack/local-slack.ts';

/** One version of a message or of a modal of the app, as Slack had it. */
export interface Shown {
  readonly atMs: number;
  /** The only user who sees it; undefined: a whole channel. */
  readonly to: string | undefined;
  /** Empty for a modal; so with the next one. */
  readonly channel: string;
  readonly ts: string;
  readonly isNew: boolean;
  readonly isModal: boolean;
  /** Its text and its blocks, as sent. */
  readonly written: string;
  readonly message?: StoredMessage;
}

/** What the hosting service and Slack have recorded, and what the app has left behind. */
export interface Records {
  readonly hosting: Hosting;
  readonly slacks: readonly LocalSlack[];
  readonly shown: readonly Shown[];
  readonly confirmations: readonly Confirmation[];
  /** All that the app has logged. */
  readonly log: string;
  /** The bytes of its files. */
  readonly files: string;
  /** What must not be found anywhere, by name; root passwords are known to the hosting service. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The servers whose root password the app still holds. Asked only where one was never shown. */
  readonly listHeld: () => Promise<readonly number[]>;
  /** Answers that the app can't have taken, since a process was killed or had given them up. */
  readonly isLost?: (request: ReturnType<Hosting['requests']>[number]) => boolean;
}

/** A form that a user has confirmed; however often it was delivered, it is one. */
export interface Confirmation {
  readonly userId: string;
  /** What the form showed and carried, as JSON. */
  readonly words: string;
}

/** Buttons that confirm an order. A form that is delivered without its button may be any. */
const CONFIRMING: readonly unknown[] = ['Create and pay', 'Renew and pay', 'Request approval', undefined];

/** What was seen in Slack of one team. */
export interface Observed {
  readonly shown: Shown[];
  /** By what makes two deliveries one confirmation. */
  readonly confirmations: Map<string, Confirmation>;
}

/** Records from now on what the app shows in a workspace, and what its users confirm. */
export function observe(slack: LocalSlack, { shown, confirmations }: Observed): void {
  const modals = new Map<string, string>();
  slack.onEvent((event) => {
    const atMs = Date.now();
    if (event.type === 'message' || event.type === 'message_changed') {
      const { message } = event;
      const { to, channel, ts, text, blocks, user } = message;
      if (user !== APP.botUserId) return;
      const written = `${text}\n${JSON.stringify(blocks)}`;
      shown.push({
        atMs,
        to,
        channel,
        ts,
        isNew: event.type === 'message',
        isModal: false,
        written,
        message,
      });
    } else if (event.type === 'views') {
      // Users are found by their IDs as well.
      const modal = slack.as(event.user as UserName).modal();
      const written = modal ? `${modal.title}\n${JSON.stringify(modal.blocks)}` : '';
      if (written === '' || modals.get(event.user) === written) return;
      modals.set(event.user, written);
      shown.push({ atMs, to: event.user, channel: '', ts: '', isNew: true, isModal: true, written });
    } else if (event.type === 'traffic' && event.entry.from === 'slack') {
      // Slack keeps only the newest ones, and what it shows of them is masked.
      noteConfirmation(slack.deliveries().at(-1)?.body ?? '', confirmations);
    }
  });
}

function noteConfirmation(body: string, confirmations: Observed['confirmations']): void {
  if (!body.includes('view_submission')) return;
  const { user, view } = readPayload(body);
  if (!view || !CONFIRMING.includes(view.submit?.text)) return;
  const words = JSON.stringify([view.blocks, view.private_metadata, view.state]);
  const key = JSON.stringify([user?.id, view.id, view.private_metadata]);
  confirmations.set(key, { userId: user?.id, words });
}

/** Attackers send what is no JSON. */
function readPayload(body: string) {
  try {
    return JSON.parse(new URLSearchParams(body).get('payload') ?? '{}');
  } catch {
    return {};
  }
}

/** Whether JSON holds this text, as it is, as Slack's markup writes it, or as JSON within JSON. */
export function holds(json: string, text: string): boolean {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = (part: string) => JSON.stringify(part).slice(1, -1);
  return [text, quoted(text), quoted(escaped), quoted(quoted(text))].some((part) => json.includes(part));
}
