import type { MoneyEntry, RequestEntry } from '../../src/sandbox/hosting/journal.ts';
import { type Confirmation, holds, type Records, type Shown } from './records.ts';

type Find = (records: Records) => readonly string[] | Promise<readonly string[]>;

/** What holds for every team at its end, judged by what the hosting service and Slack have recorded. */
const INVARIANTS = {
  chargedOnce: findChargedTwice,
  toldTruly: findUntrue,
  passwordsWithCreators: findStrayPasswords,
  secretsHidden: findSecrets,
} as const satisfies Record<string, Find>;

/** Invariants that a test breaks on purpose, each with the reason. */
export type Exemptions = Partial<Readonly<Record<keyof typeof INVARIANTS, string>>>;

/** Everything that is not as it has to be, in sentences; empty if all invariants hold. */
export async function findViolations(records: Records, exempt: Exemptions = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, find] of Object.entries(INVARIANTS) as [keyof typeof INVARIANTS, Find][])
    if (exempt[name] === undefined) found.push(...(await find(records)).map((words) => `${name}: ${words}`));
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

/** Nothing is told as done that wasn't, and nothing that was paid is told as not charged. */
function findUntrue({ hosting, confirmations, shown }: Records): readonly string[] {
  const servers = hosting.accounts.list().flatMap((account) => hosting.listServers(account));
  const worked = hosting.requests({ didWork: true });
  const createdAs = (label: string) =>
    hosting.charges().filter((one) => CREATED.test(one.what) && labelIn(one, CREATED) === label);
  // A deleted server may have had the label before.
  const idsOf = (label: string) => [
    ...servers.filter((one) => one.label === label).map(({ id }) => id),
    ...createdAs(label).flatMap(({ serverId }) => serverId ?? []),
  ];
  const didWork = (operation: RequestEntry['operation'], label: string) => {
    const ids = idsOf(label);
    const sent = worked.filter((one) => one.operation === operation);
    return sent.some(({ serverId }) => ids.length === 0 || serverId === undefined || ids.includes(serverId));
  };
  const keptFor = (label: string) => {
    const refunds = hosting.refunds().filter(({ what }) => what === `refund, ${label} was not created`);
    return createdAs(label).length - refunds.length;
  };
  const isOnly = (label: string) => of(confirmations, label).length === 1;
  const exists = (id: number) =>
    hosting.passwordOf(id) !== undefined || servers.some((server) => server.id === id);
  const rules: readonly (readonly [RegExp, (label: string, more: string) => boolean])[] = [
    [/`([^`\n]+)` was created \(ID (\d+)/g, (_, id) => exists(Number(id))],
    [/`([^`\n]+)` is being created(?: \([^)\n]*\))?\. `\/vps show (\d+)`/g, (_, id) => exists(Number(id))],
    [
      /`([^`\n]+)` wasn’t created, and nothing was charged/g,
      (label) => !isOnly(label) || keptFor(label) === 0,
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
  const untrue = shown.flatMap(({ written }) =>
    rules.flatMap(([pattern, isTrue]) =>
      [...written.matchAll(pattern)]
        .filter(([, label = '', more = '']) => !isTrue(plainOf(label), more))
        .map(([words]) => `was told, and isn’t so: ${words}`),
    ),
  );
  return [...new Set(untrue)];
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

function countBy<One, Key>(all: readonly One[], keyOf: (one: One) => Key): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return counts;
}

/** A label as it is, from JSON and Slack's markup. */
function plainOf(written: string): string {
  const text = written.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return text.replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}
