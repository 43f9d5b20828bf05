import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as othersGoOn } from 'node:timers/promises';
import { openStore } from '../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../src/db/vault.ts';
import type { Fields, Log } from '../../src/log.ts';
import type { MoneyEntry, RequestEntry } from '../../src/sandbox/hosting/journal.ts';
import type { Hosting } from '../../src/sandbox/hosting/start.ts';
import type { StoredMessage } from '../../src/sandbox/slack/messages.ts';
import { APP, type UserName } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { APP_TOKEN, BOT_TOKEN, SCOPES, SIGNING_SECRET } from './environment.ts';
import type { LocalSlack } from './slack/local-slack.ts';
import { decodeEntities } from './slack/mrkdwn.ts';

type Find = (records: Records) => readonly string[] | Promise<readonly string[]>;

/** What holds for every team at its end, judged by what the hosting service and Slack have recorded. */
const INVARIANTS = {
  chargedOnce: findChargedTwice,
  toldTruly: findUntrue,
  passwordsWithCreators: findStrayPasswords,
  secretsHidden: findSecrets,
  slackRulesKept: findBrokenRules,
} as const satisfies Record<string, Find>;

/** Invariants that a test breaks on purpose, each with the reason. */
export type Exemptions = Partial<Readonly<Record<keyof typeof INVARIANTS, string>>>;

/** Everything that is not as it has to be, in sentences; empty if all invariants hold. */
export async function findViolations(records: Records, exempt: Exemptions = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, find] of Object.entries(INVARIANTS) as [keyof typeof INVARIANTS, Find][]) {
    // The hosting service may be in this process, and counts when requests arrive.
    await othersGoOn();
    if (exempt[name] === undefined) found.push(...(await find(records)).map((words) => `${name}: ${words}`));
  }
  return found;
}

const CREATED = /^create (.*) \(\S+\)$/s;

const RENEWED = /^renew (.*) \(\S+\)$/s;

const labelIn = ({ what }: MoneyEntry, pattern: RegExp) => pattern.exec(what)?.[1] ?? '';

const of = (confirmations: readonly Confirmation[], label: string) =>
  confirmations.filter(({ words }) => holds(words, label));

/** Each confirmation leads to one paid request at most, and each month that users saw is paid once. */
function findChargedTwice({ hosting, confirmations }: Records): readonly string[] {
  const charges = hosting.charges();
  const creates = countBy(
    charges.filter(({ what }) => CREATED.test(what)),
    (charge) => labelIn(charge, CREATED),
  );
  const twice = [...creates].flatMap(([label, count]) => {
    const most = of(confirmations, label).length;
    return count > most ? [`${count} charges for ${label}, and ${most} confirmations`] : [];
  });
  // What was renewed on the hosting company's own page is a charge, and no request.
  const paid = hosting.requests({ operation: 'renew', didWork: true });
  const months = [...countBy(paid, ({ serverId }) => serverId)].flatMap(([serverId, count]) => {
    const charge = charges.find((one) => one.serverId === serverId && RENEWED.test(one.what));
    const confirmed = of(confirmations, charge ? labelIn(charge, RENEWED) : '');
    const ends = confirmed.map(({ words }) => words.match(/<!date\^\d+/g) ?? []);
    const seen = ends.some((each) => each.length === 0)
      ? Number.POSITIVE_INFINITY
      : new Set(ends.flat()).size;
    const most = Math.min(confirmed.length, seen);
    return count > most ? [`${count} renewals of server ${serverId}, ${most} months were confirmed`] : [];
  });
  return [...twice, ...months];
}

const listCreates = (hosting: Hosting, label: string) =>
  hosting.charges().filter((one) => CREATED.test(one.what) && labelIn(one, CREATED) === label);

/** Charges of creates by their label, and those of them that weren't given back. */
export function countCreates(hosting: Hosting, label: string) {
  const charges = listCreates(hosting, label).length;
  const refunds = hosting.refunds().filter(({ what }) => what === `refund, ${label} was not created`);
  return { charges, kept: charges - refunds.length };
}

/** Nothing is told as done that wasn't, and nothing that was paid is told as not charged. */
async function findUntrue({ hosting, confirmations, shown }: Records): Promise<readonly string[]> {
  const servers = hosting.accounts.list().flatMap((account) => hosting.listServers(account));
  const worked = hosting.requests({ didWork: true });
  // A deleted server may have had the label before.
  const idsOf = (label: string) => [
    ...servers.filter((one) => one.label === label).map(({ id }) => id),
    ...listCreates(hosting, label).flatMap(({ serverId }) => serverId ?? []),
  ];
  const didWork = (operation: RequestEntry['operation'], label: string) => {
    const ids = idsOf(label);
    const sent = worked.filter((one) => one.operation === operation);
    return sent.some(({ serverId }) => ids.length === 0 || serverId === undefined || ids.includes(serverId));
  };
  const isOnly = (label: string) => of(confirmations, label).length === 1;
  const exists = (id: number) =>
    hosting.passwordOf(id) !== undefined || servers.some((server) => server.id === id);
  const rules: readonly (readonly [RegExp, (label: string, more: string) => boolean])[] = [
    [/`([^`\n]+)` was created \(ID (\d+)/g, (_, id) => exists(Number(id))],
    [/`([^`\n]+)` is being created(?: \([^)\n]*\))?\. `\/vps show (\d+)`/g, (_, id) => exists(Number(id))],
    [
      /`([^`\n]+)` wasn’t created, and nothing was charged/g,
      (label) => !isOnly(label) || countCreates(hosting, label).kept === 0,
    ],
    [/`([^`\n]+)` was renewed for a month/g, (label) => didWork('renew', label)],
    [
      /`([^`\n]+)` wasn’t renewed, and nothing was charged/g,
      (label) => !isOnly(label) || !didWork('renew', label) || idsOf(label).length !== 1,
    ],
    [/`([^`\n]+)` was deleted\./g, (label) => didWork('delete', '') || idsOf(label).length === 0],
    [/<@\w+> rebooted `([^`\n]+)`/g, (label) => didWork('reboot', label)],
    [/<@\w+> stopped `([^`\n]+)`/g, (label) => didWork('stop', label)],
    [/<@\w+> started `([^`\n]+)`/g, (label) => didWork('start', label)],
  ];
  const untrue = new Set<string>();
  for (const [pattern, isTrue] of rules) {
    await othersGoOn();
    for (const { written } of shown)
      for (const [words, label = '', more = ''] of written.matchAll(pattern))
        if (!isTrue(plainOf(label), more)) untrue.add(`was told, and isn’t so: ${words}`);
  }
  return [...untrue];
}

/** Only its creator saw a root password, in an ephemeral message; one that nobody saw is held. */
async function findStrayPasswords(records: Records): Promise<readonly string[]> {
  const { hosting, slacks, shown, confirmations, listHeld, isLost = () => false } = records;
  const isInstalled = !slacks.some((slack) =>
    slack.deliveries().some(({ what }) => what.includes('app_uninstalled')),
  );
  const faults: string[] = [];
  for (const request of hosting.requests({ operation: 'create', didWork: true })) {
    const { serverId = 0, ending, fault, status = 0 } = request;
    await othersGoOn();
    const password = hosting.passwordOf(serverId);
    if (password === undefined) continue;
    const charge = hosting.charges().find((one) => one.serverId === serverId && CREATED.test(one.what));
    const creators = of(confirmations, charge ? labelIn(charge, CREATED) : '').map(({ userId }) => userId);
    const seen = shown.filter(({ written }) => holds(written, password));
    const isStray = ({ to, isModal }: Shown) => to === undefined || isModal || !creators.includes(to);
    if (seen.some(isStray)) faults.push(`the root password of server ${serverId} was shown to others`);
    const mustBeThere =
      ending === 'answered' && status < 300 && fault === undefined && isInstalled && !isLost(request);
    const isDeleted = hosting.requests({ operation: 'delete', serverId, didWork: true }).length > 0;
    if (seen.length === 0 && mustBeThere && !isDeleted && !(await listHeld()).includes(serverId))
      faults.push(`the root password of server ${serverId} was never shown, and isn’t held`);
  }
  return faults;
}

/** No secret is in a log, in a file, in an answer to Slack, in an address, or in a message or modal. */
function findSecrets({ hosting, slacks, shown, log, files, secrets }: Records): readonly string[] {
  const responses = slacks.flatMap((slack) => slack.deliveries().map(({ response }) => response)).join('\n');
  const addresses = hosting
    .requests()
    .map(({ path }) => path)
    .join('\n');
  const places = { 'the log': log, 'the files': files, 'answers to Slack': responses, addresses };
  const passwords = hosting.requests({ operation: 'create', didWork: true }).flatMap(({ serverId = 0 }) => {
    const password = hosting.passwordOf(serverId);
    return password === undefined ? [] : [[`the root password of server ${serverId}`, password] as const];
  });
  const find = (where: Readonly<Record<string, string>>, hidden: readonly (readonly [string, string])[]) =>
    Object.entries(where).flatMap(([place, text]) =>
      hidden
        .filter(([, secret]) => secret !== '' && holds(text, secret))
        .map(([name]) => `${name} is in ${place}`),
    );
  const written = shown.map((one) => one.written).join('\n');
  return [
    ...find(places, [...Object.entries(secrets), ...passwords]),
    ...find({ 'what was shown': written }, Object.entries(secrets)),
  ];
}

/** Broken by a busy machine, too: tests of slow answers look for them. */
const OF_TIME = /^(?:late_ack|silent|expired_trigger)$/;

/** What came after the app had ended, or while it was killed. */
const UNREACHED = /ECONN|socket hang up/;

/** The app does nothing that Slack refuses, or that Slack asks apps not to do. */
function findBrokenRules({ slacks }: Records): readonly string[] {
  return slacks.flatMap((slack) => {
    // Slack alone knows which scopes an app has.
    const lacksScopes = slack.app.scopes.length < SCOPES.length;
    return slack
      .brokenRules()
      .filter(({ rule, words }) => !OF_TIME.test(rule) && !UNREACHED.test(words))
      .filter(({ rule }) => !(lacksScopes && rule === 'missing_scope'))
      .map(({ rule, words }) => `${rule}: ${words}`);
  });
}

export function countBy<One, Key>(all: readonly One[], keyOf: (one: One) => Key): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return counts;
}

/** A label as it is, from JSON and Slack's markup. */
function plainOf(written: string): string {
  return decodeEntities(written).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}

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
interface Observed {
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
  return formsOf(text).some((part) => json.includes(part));
}

/** A long run looks for thousands of texts in thousands of messages. */
let latest: { readonly text: string; readonly forms: readonly string[] } = { text: '', forms: [''] };

function formsOf(text: string): readonly string[] {
  if (latest.text === text) return latest.forms;
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = (part: string) => JSON.stringify(part).slice(1, -1);
  const forms = [...new Set([text, quoted(text), quoted(escaped), quoted(quoted(text))])];
  latest = { text, forms };
  return forms;
}

/** Watches a team from its start, and judges it when its app has ended. */
export function watchTeam({
  slack,
  hosting,
  environment,
  folder,
  secrets,
  output = () => '',
}: {
  readonly slack: LocalSlack;
  readonly hosting: Hosting;
  readonly environment: Readonly<Record<string, string>>;
  /** Where the app keeps its files. */
  readonly folder: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** What processes of the app have written. */
  readonly output?: () => string;
}) {
  const slacks: LocalSlack[] = [];
  const observed: Observed = { shown: [], confirmations: new Map() };
  const lines: string[] = [];
  const add = (one: LocalSlack) => {
    slacks.push(one);
    observe(one, observed);
  };
  add(slack);
  const all = {
    ...secrets,
    ...SECRETS,
    'the encryption key': environment.ENCRYPTION_KEYS?.split(':')[1] ?? '',
  };
  return {
    /** Another workspace with the same app. */
    add,
    /** A log that is remembered as well. */
    listenTo: (log: Log): Log => {
      const remember =
        (level: keyof Log) =>
        (words: string, fields: Fields = {}) => {
          lines.push(`${words} ${JSON.stringify(fields)}`);
          log[level](words, fields);
        };
      return {
        debug: remember('debug'),
        info: remember('info'),
        warn: remember('warn'),
        error: remember('error'),
      };
    },
    /** All that was logged so far. */
    logged: () => lines.join('\n'),
    /** Everything that is not as it has to be, in sentences. */
    judge: async (exempt?: Exemptions) => {
      const log = `${lines.join('\n')}\n${output()}`;
      const files = await readBytes(folder);
      const listHeld = () => listHeldPasswords(environment, slacks);
      const { shown } = observed;
      const confirmations = [...observed.confirmations.values()];
      const records = { hosting, slacks, shown, confirmations, log, files, secrets: all, listHeld };
      return findViolations(records, exempt);
    },
  };
}

/** @throws an error that names them all, if there are any */
export function failOn(violations: readonly string[]): void {
  if (violations.length > 0) throw new Error(`invariants are broken:\n${violations.join('\n')}`);
}

/** Those of every team of a test. */
export const SECRETS = {
  'the signing secret': SIGNING_SECRET,
  'the bot token': BOT_TOKEN,
  'the app-level token': APP_TOKEN,
};

/** Everything in a folder, as Latin 1. */
export async function readBytes(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  // SQLite removes some of its files when the last connection closes.
  const texts = await Promise.all(paths.map((path) => readFile(path, 'latin1').catch(() => '')));
  return texts.join('\n');
}

/** Reads in the database itself: no process runs any more. */
async function listHeldPasswords(
  {
    DATABASE_URL: databaseUrl = '',
    ENCRYPTION_KEYS = '',
    SPILL_DIR: spillDir,
  }: Readonly<Record<string, string>>,
  slacks: readonly LocalSlack[],
): Promise<readonly number[]> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEYS));
  const spill = spillDir === undefined ? {} : { spillDir };
  const store = await openStore({ databaseUrl, vault, system: realSystem, ...spill });
  const held = await Promise.all(slacks.map(({ team }) => store.passwords.listHeld(team.id)));
  await store.close();
  return held.flat().map(({ serverId }) => serverId);
}
