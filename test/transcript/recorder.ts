import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredMessage } from '../../src/sandbox/slack/messages.ts';
import type { WorkflowRun } from '../../src/sandbox/slack/workflows.ts';
import { USERS, type UserName } from '../../src/sandbox/slack/workspace.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import type { Persona } from '../support/slack/persona.ts';
import type { Team } from '../support/team.ts';

/** Nothing happens for so long before a step that is written counts as over. */
const QUIET_MS = 2500;

/** Where time has passed, what follows has to be found out first. */
const LONG_QUIET_MS = 5000;

const LOOK_MS = 15;

/** How long a step may take to become what the golden one is; once a story differs, the rest of it is not waited for. */
const PATIENCE_MS = 20_000;

const AFTER_DIFFERENCE_MS = 400;

interface Parts {
  readonly team: Team;
  /** Workspaces by name; a single one has none. */
  readonly slacks: ReadonlyMap<string, LocalSlack>;
  readonly bodies: readonly { readonly path: string; body: string }[];
  /** The steps as they are stored; undefined: they are being written. */
  readonly golden: readonly string[] | undefined;
}

interface Touched {
  readonly slack: LocalSlack;
  readonly workspace: string;
  readonly message: StoredMessage;
  readonly isGone: boolean;
}

/**
 * Writes down after each act what it led to: what changed for whom in Slack, what was sent to the hosting API, the money
 * that moved, and the audit. A step shows how things are when they have come to rest, so that how fast they did is not seen.
 * What was read from the hosting API depends on how long lists are good for, and stands at the end of a story.
 */
export class Recorder {
  readonly #parts: Parts;
  readonly #steps: string[] = [];
  readonly #touched = new Map<string, Touched>();
  /** What each message showed at the end of an earlier step. */
  readonly #shown = new Map<string, string>();
  readonly #screens = new Map<string, string>();
  readonly #personas = new Map<string, Persona>();
  readonly #runs: WorkflowRun[] = [];
  readonly #secrets: [string, string][] = [];
  #act = '';
  #notes: string[] = [];
  #requests = 0;
  #money: number;
  #audit = 0;
  #differs = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#money = parts.team.hosting.journal.money().length;
    for (const [workspace, slack] of parts.slacks) {
      slack.onEvent((event) => {
        if (event.type !== 'message' && event.type !== 'message_changed' && event.type !== 'message_deleted')
          return;
        const { message } = event;
        const isGone = event.type === 'message_deleted';
        const key = `${workspace}/${message.channel}/${message.ts}`;
        // A card may be edited twice to the same, by the press and by the job; the second time, nobody sees a difference.
        if (!isGone && this.#shown.get(key) === contentOf(message)) return;
        this.#touched.set(key, {
          slack,
          workspace,
          message,
          isGone,
        });
      });
    }
  }

  /** Ends the step before, and begins one with these words. */
  async begin(words: string): Promise<void> {
    if (this.#act !== '') await this.#endStep();
    this.#act = words;
  }

  /** Something that the step led to outside of Slack. */
  note(title: string, text: string): void {
    this.#notes.push(`    ${title}\n${indent(text)}`);
  }

  /** A secret that only this story knows. */
  hides(secret: string, placeholder: string): void {
    this.#secrets.push([secret, placeholder]);
  }

  watchRun(run: WorkflowRun): void {
    this.#runs.push(run);
  }

  async end(): Promise<string> {
    await this.#endStep();
    const { hosting } = this.#parts.team;
    const reads = hosting.requests({ method: 'GET' }).map(({ path }) => `GET ${path}`);
    this.#steps.push(`> (read from the hosting API: ${[...new Set(reads)].sort().join(', ') || 'nothing'})`);
    return this.#steps.join('\n\n');
  }

  async #endStep(): Promise<void> {
    const text = await this.#settled();
    this.#steps.push(text);
    for (const [screen, shown] of this.#readScreens()) this.#screens.set(screen, shown);
    for (const [key, { message }] of this.#touched) this.#shown.set(key, contentOf(message));
    this.#touched.clear();
    this.#notes = [];
    const { hosting } = this.#parts.team;
    this.#requests = listWrites(this.#parts.team).length;
    this.#money = hosting.journal.money().length;
    this.#audit = (await listAudit(this.#parts.team, [...this.#parts.slacks.values()])).length;
  }

  /** The step as soon as it is the golden one, or once nothing has happened for a while. */
  async #settled(): Promise<string> {
    const { golden } = this.#parts;
    const wanted = golden?.[this.#steps.length];
    const quietMs = /pass(es)?\b/.test(this.#act) && this.#act.startsWith('(') ? LONG_QUIET_MS : QUIET_MS;
    const waitMs = golden === undefined ? quietMs : this.#differs ? AFTER_DIFFERENCE_MS : PATIENCE_MS;
    let text = await this.#render();
    for (let since = Date.now(); text !== wanted && Date.now() - since < waitMs; ) {
      await sleep(LOOK_MS);
      const next = await this.#render();
      if (golden === undefined && (next !== text || next.includes('Loading…'))) since = Date.now();
      text = next;
    }
    if (golden !== undefined && text !== wanted) this.#differs = true;
    return text;
  }

  async #render(): Promise<string> {
    const parts = [
      ...this.#notes,
      ...this.#renderScreens(),
      ...this.#renderMessages(),
      ...this.#renderHosting(),
      ...(await this.#renderAudit()),
    ];
    const text = [`> ${this.#act}`, ...parts].join('\n');
    const plain = this.#secrets.reduce(
      (all, [secret, placeholder]) => all.replaceAll(secret, placeholder),
      text,
    );
    return normalize(plain, this.#parts.team);
  }

  #renderMessages(): readonly string[] {
    const seen = [...this.#touched.values()]
      .filter(({ message }) => !INTERIM.test(message.text || JSON.stringify(message.blocks)))
      .map((touched) => ({ touched, place: this.#placeOf(touched) }));
    seen.sort(
      (one, other) =>
        compare(one.place, other.place) || compare(one.touched.message.ts, other.touched.message.ts),
    );
    return seen.map(({ touched, place }) =>
      touched.isGone ? `    ${place}: a message is gone` : `    ${place}\n${indent(this.#read(touched))}`,
    );
  }

  #placeOf({ slack, workspace, message: { channel, to, threadTs } }: Touched): string {
    const owner = nameOf(slack, `U${channel.slice(1)}`);
    const place = channel.startsWith('D')
      ? `${owner}’s direct messages`
      : `#${slack.channel(channel)?.name ?? channel}`;
    const reader = to === undefined || channel.startsWith('D') ? '' : `, for ${nameOf(slack, to)} alone`;
    return `${place}${workspace && ` of ${workspace}`}${threadTs === undefined ? '' : ', in a thread'}${reader}`;
  }

  #read({ slack, workspace, message }: Touched): string {
    const reader = message.channel.startsWith('D')
      ? nameOf(slack, `U${message.channel.slice(1)}`)
      : nameOf(slack, message.to ?? '');
    const root = message.threadTs === undefined ? '' : message.threadTs;
    const key = `${workspace}/${reader}/${message.channel}/${root}`;
    const known = this.#personas.get(key);
    const channel = slack.as(reader).in(message.channel.startsWith('D') ? 'dm' : message.channel);
    const persona = known ?? (root === '' ? channel : channel.thread(root));
    this.#personas.set(key, persona);
    const found = persona.messages().find(({ ts }) => ts === message.ts);
    if (!found) return '(not on the screen)';
    const { heading, shown, text, blocks } = found;
    const notification = blocks.length === 0 || text === '' ? [] : [`notification: ${text}`];
    // Whether something was posted at once or edited a moment later depends on how fast it was.
    return [heading.replace(' (edited)', ''), shown, ...describeElements(blocks), ...notification].join('\n');
  }

  #readScreens(): ReadonlyMap<string, string> {
    const screens = new Map<string, string>();
    for (const [at, { state, outputs, error }] of this.#runs.entries())
      screens.set(`the step of workflow ${at + 1}`, `${state} ${JSON.stringify(outputs ?? error ?? '')}`);
    for (const [workspace, slack] of this.#parts.slacks) {
      for (const name of Object.keys(USERS) as UserName[]) {
        const persona = slack.as(name);
        const of = `${name}${workspace && ` of ${workspace}`}`;
        for (const [kind, view] of [
          ['modal', persona.modal()],
          ['Home', persona.home()],
        ] as const)
          screens.set(
            `${of}’s ${kind}`,
            view ? [view.shown, ...describeElements(view.blocks)].join('\n') : '',
          );
      }
    }
    return screens;
  }

  #renderScreens(): readonly string[] {
    return [...this.#readScreens()]
      .filter(([screen, shown]) => shown !== (this.#screens.get(screen) ?? ''))
      .map(([screen, shown]) => (shown === '' ? `    ${screen} closes` : `    ${screen}\n${indent(shown)}`));
  }

  #renderHosting(): readonly string[] {
    const { team, bodies } = this.#parts;
    const writes = listWrites(team).map(({ method, path, status, ending, code, fault, didWork }, at) => {
      const end = status === undefined ? ending : [status, code].filter(Boolean).join(' ');
      const note = fault === undefined ? '' : ` (${fault}${didWork ? ', done' : ', not done'})`;
      return `    hosting API: ${[method, path, bodies[at]?.body].filter(Boolean).join(' ')} → ${end}${note}`;
    });
    const money = team.hosting.journal
      .money()
      .map(({ kind, amountMinor, what }) => `    money: ${kind} ${(amountMinor / 100).toFixed(2)}, ${what}`);
    return [...writes.slice(this.#requests), ...money.slice(this.#money)];
  }

  async #renderAudit(): Promise<readonly string[]> {
    const lines = await listAudit(this.#parts.team, [...this.#parts.slacks.values()]);
    return lines.slice(this.#audit).map((line) => `    audit: ${line}`);
  }
}

function listWrites({ hosting }: Team) {
  return hosting.requests().filter(({ method }) => method !== 'GET');
}

function nameOf(slack: LocalSlack, userId: string): UserName {
  const names = Object.keys(USERS) as UserName[];
  return names.find((name) => slack.as(name).id === userId) ?? 'olga';
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `        ${line}`.trimEnd())
    .join('\n');
}

/** Shown only where an answer takes long, and so not each time. */
const INTERIM = /Working on it\. The result will appear here|Checking that nothing has changed/;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, '<id>'],
  [/127\.0\.0\.1(:\d+)?/g, '<host>'],
  [/\/connect\/[\w-]+/g, '/connect/<token>'],
  [/vpswf_[\w-]+/g, '<workflow key>'],
  [/incident \w{8}/g, 'incident <incident>'],
  [/\b\d+ s\)/g, '<seconds> s)'],
  [/\(\d+ ms, /g, '(<time> ms, '],
  [/\b\d+ of 300\b/g, '<count> of 300'],
  [/clock is \d+ min/g, 'clock is <count> min'],
  [/\b\d+ s ago/g, '<seconds> s ago'],
  [/\/p\d{16}\b/g, '/p<time>'],
  [/(thread_ts|message_ts)=[\d.]+/g, '$1=<time>'],
];

/** Passwords and all that is made up anew each time. */
function normalize(text: string, { hosting, apiKey }: Team): string {
  let plain = text.replaceAll(apiKey, '<API key>');
  for (const { serverId, path } of hosting.requests({ operation: 'create' })) {
    const password = serverId === undefined ? undefined : hosting.passwordOf(serverId);
    if (password !== undefined) plain = plain.replaceAll(password, `<password ${serverId}${path && ''}>`);
  }
  for (const [pattern, placeholder] of PATTERNS) plain = plain.replace(pattern, placeholder);
  return plain;
}

function contentOf({ text, blocks }: Pick<StoredMessage, 'text' | 'blocks'>): string {
  // Slack gives blocks new IDs with every edit.
  return JSON.stringify([text, blocks], (key, value) => (key === 'block_id' ? undefined : value));
}

type Json = Readonly<Record<string, unknown>>;

const MOST_OPTIONS = 8;

/** What a reader finds out only by pressing: what buttons ask and where they lead, and what menus offer. */
function describeElements(blocks: unknown): readonly string[] {
  const found: string[] = [];
  const look = (part: unknown): void => {
    if (Array.isArray(part)) for (const each of part) look(each);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return;
    found.push(...describe(part as Json));
    for (const each of Object.values(part)) look(each);
  };
  look(blocks);
  return found;
}

function describe(element: Json): readonly string[] {
  const label = `[${textIn(element.text) || textIn(element.placeholder)}]`;
  const { confirm, url, type, options } = element;
  const lines: string[] = [];
  if (isJson(confirm)) {
    const words = [confirm.title, confirm.text].map(textIn).join(' | ');
    lines.push(`${label} asks: ${words} [${textIn(confirm.deny)}] [${textIn(confirm.confirm)}]`);
  }
  if (type === 'button' && typeof url === 'string') lines.push(`${label} leads to ${url}`);
  if (String(type).endsWith('static_select') && Array.isArray(options)) {
    const texts = options.map((option: Json) => textIn(option.text));
    const rest = texts.length > MOST_OPTIONS ? ` … (${texts.length})` : '';
    lines.push(`${label} offers: ${texts.slice(0, MOST_OPTIONS).join(' / ')}${rest}`);
  }
  return lines;
}

function isJson(part: unknown): part is Json {
  return typeof part === 'object' && part !== null;
}

function textIn(part: unknown): string {
  return isJson(part) ? String(part.text ?? '').replace(/\s*\n\s*/g, ' / ') : '';
}

const MOST = 1000;

/** The only place here that knows the app's insides: every entry of the audit as a line, oldest first. */
export async function listAudit({ app }: Team, slacks: readonly LocalSlack[]): Promise<readonly string[]> {
  const lists = await Promise.all(
    slacks.map(async ({ team }) =>
      (await app.ports.audit.list({ workspaceId: team.id, limit: MOST })).toReversed(),
    ),
  );
  return lists
    .flat()
    .map(({ workspaceId, actorId, surface, action, serverId, label, money, outcome, code }) => {
      const name =
        Object.values(USERS).find(({ id }) => id === actorId || actorId.endsWith(id.slice(1)))?.name ??
        actorId;
      const workspace = slacks.length > 1 ? workspaceId : undefined;
      const subject = [serverId, label && `“${label}”`, money && `money ${money}`];
      return [workspace, name, surface, action, ...subject, outcome, code]
        .filter((part) => part !== undefined && part !== '')
        .join(' ');
    });
}
