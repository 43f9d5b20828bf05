import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../src/context.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import type { Operation } from '../../src/purchases/operation.ts';
import { APPROVALS, type Approval } from '../../src/requests/request.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import type { DeleteOperation } from '../../src/servers/deletion.ts';
import { newGrant } from '../db/fixtures.ts';
import { orderOf } from '../support/acts.ts';
import { startKillableTeam, withStore } from '../support/killable-team.ts';
import { lendDatabase } from '../support/postgres.ts';
import { queryDatabase } from '../support/query-database.ts';
import { TWO_PERSONS } from '../support/ruled-team.ts';
import { isLong } from '../support/tries.ts';

type CrashingTeam = Awaited<ReturnType<typeof startCrashingTeam>>;

/** What is stored of all confirmations. */
interface Stored {
  readonly operations: readonly Operation[];
  readonly deletes: readonly DeleteOperation[];
  readonly approvals: readonly Approval[];
  /** The root passwords that are held, by the ID of their server. */
  readonly passwords: ReadonlyMap<number, string>;
}

/** `TEST_ENGINE=postgres` lets all crash points be tried on PostgreSQL. */
const isPostgres = process.env.TEST_ENGINE === 'postgres';

/** A team whose app is a process of its own, which ends as by `kill -9` at a point that it counts; 0: it lives. */
async function startCrashingTeam(crashAt: number, { isRuled = false }: Story) {
  const lent = isPostgres ? await lendDatabase() : undefined;
  const team = await startKillableTeam({
    servers: 1,
    databaseUrl: lent?.url,
    settings: { DOUBT_MINUTES: '1' },
    prepare: (store) => prepare(store, isRuled),
    exempt: { passwordsWithCreators: 'the process may be killed over the answer' },
  });
  const { slack, hosting, account, environment } = team;
  const { startCounting, points, hasEnded } = await team.startCrashing(crashAt);
  return {
    ...{ startCounting, points, hasEnded },
    hosting,
    slack,
    manager: slack.as('mara'),
    owner: slack.as('olga').in('dm'),
    /** Everyone who must never see a root password of @mara's. */
    others: [slack.as('olga').in('dm'), slack.as('olga'), slack.as('nora')],
    restart: async () => {
      // Leases of a dead process end by time there, after half a minute. The soak waits for that.
      await lent?.query('update jobs set lease_until = 0 where lease_until > 0');
      await team.start();
    },
    read: () => withStore(environment, (store) => readStored(store, environment.DATABASE_URL ?? '')),
    charges: () => hosting.charges(account).length,
    servers: () => hosting.listServers(account),
    [Symbol.asyncDispose]: async () => {
      await team[Symbol.asyncDispose]();
      await lent?.giveBack();
    },
  };
}

async function prepare(store: Store, isRuled: boolean): Promise<void> {
  await store.workspaces.put({ id: TEAM.id, name: TEAM.name });
  if (isRuled) await store.workspaces.changeSettings(TEAM.id, DEFAULT_SETTINGS, TWO_PERSONS);
  await store.grants.put(newGrant({ workspaceId: TEAM.id, subjectId: USERS.mara.id, role: 'manager' }));
}

async function readStored(store: Store, databaseUrl: string): Promise<Stored> {
  const idsOf = async (table: string) =>
    (await queryDatabase(databaseUrl, `select id from ${table}`)).map(({ id }) => String(id));
  const [operationIds, approvalIds] = [await idsOf('operations'), await idsOf('requests')];
  const found = <One>(all: readonly (One | undefined)[]) => all.filter((one) => one !== undefined);
  const operations = found(await Promise.all(operationIds.map((id) => store.ledger.find(id))));
  const approvals = found(await Promise.all(approvalIds.map((id) => store.requests.find(id, APPROVALS))));
  const deletes = found(await Promise.all(operationIds.map((id) => store.ledger.findDelete(id))));
  const held = found(await Promise.all(operationIds.map((id) => store.passwords.find(id))));
  const passwords = new Map(held.map(({ serverId, password }) => [serverId, password.reveal()]));
  return { operations, deletes, approvals, passwords };
}

/** Something that users do, over all the crashes of the app. */
interface Story {
  readonly name: string;
  /** Everything needs a second person's approval. */
  readonly isRuled?: boolean;
  /** What happens before the crash points are counted: the form is open. */
  begin(team: CrashingTeam): Promise<void>;
  /** The button that confirms it. */
  readonly button: 'Create and pay' | 'Request approval' | 'Renew and pay' | 'Delete';
  /** The request that may be sent once. */
  readonly request: 'create' | 'renew' | 'delete';
  /** Where `npm test` lets it crash: after this part of its points. */
  readonly after: number;
}

/** On a busy machine Slack gives up on the app now and then; then its user tries again. */
async function openForm(manager: CrashingTeam['manager'], command: string, button: string): Promise<void> {
  const isOpen = () => canPress(manager, button);
  for (let tries = 0; tries < 5 && !isOpen(); tries++) {
    await manager.types(command);
    await vi.waitUntil(isOpen, 10_000).catch(() => undefined);
  }
  if (!isOpen()) throw new Error(`the form does not open:\n${manager.screen()}`);
}

async function typeLabel({ manager }: CrashingTeam, button: Story['button']): Promise<void> {
  await openForm(manager, '/vps delete web-1', button);
  await manager.fills({ 'To confirm, type web-1': 'web-1' });
}

const create: Story = {
  name: 'create',
  button: 'Create and pay',
  request: 'create',
  after: 0.2,
  begin: ({ manager }) => openForm(manager, orderOf('new-1'), 'Create and pay'),
};

const STORIES: readonly Story[] = [
  create,
  {
    ...create,
    name: 'lost answer',
    after: 0.35,
    begin: async (team) => {
      team.hosting.faults.add({ on: 'create', kind: 'lost_after' });
      await create.begin(team);
    },
  },
  {
    name: 'renew',
    button: 'Renew and pay',
    request: 'renew',
    after: 0.5,
    begin: ({ manager }) => openForm(manager, '/vps renew web-1', 'Renew and pay'),
  },
  {
    ...create,
    name: 'approved create',
    after: 0.65,
    isRuled: true,
    button: 'Request approval',
    begin: ({ manager }) => openForm(manager, orderOf('new-1'), 'Request approval'),
  },
  {
    name: 'delete',
    button: 'Delete',
    request: 'delete',
    after: 0.4,
    begin: (team) => typeLabel(team, 'Delete'),
  },
  {
    name: 'approved delete',
    isRuled: true,
    button: 'Request approval',
    request: 'delete',
    // Once its request has left, the next process looks for the server for two minutes before it says that it can't tell:
    // deletes.test.ts has that with a clock that is moved, and the long form here.
    after: 0.6,
    begin: (team) => typeLabel(team, 'Request approval'),
  },
];

/** Generous: a try is over as soon as everything has settled, which takes `DOUBT_MINUTES` where nothing was sent. */
const SETTLED_WITHIN = 240_000;

/**
 * Lets the app crash at this point of the story, starts it again, and lets everything settle; then checks what has to be
 * true whatever happened. Returns the points that were passed before the crash.
 */
async function tryCrash(story: Story, crashAt: number): Promise<readonly string[]> {
  await using team = await startCrashingTeam(crashAt, story);
  await story.begin(team);
  await team.startCounting();
  // A dead process never answers.
  const pressed = team.manager.presses(story.button).catch(() => undefined);
  const isOver = async () => team.hasEnded() || isSettled(await team.read(), story);
  await waitUntil(isOver, team, story);
  const points = await team.points();
  if (team.hasEnded()) {
    await pressed;
    await team.restart();
    // A user who saw no answer presses again.
    if (canPress(team.manager, story.button)) await team.manager.presses(story.button).catch(() => undefined);
    await waitUntil(async () => isSettled(await team.read(), story), team, story);
  }
  try {
    await checkLaws(team, story);
  } catch (error) {
    throw new Error(`${story.name}, crash point ${crashAt} (${points.at(-1)}): ${error}`, { cause: error });
  }
  return points;
}

function canPress(manager: CrashingTeam['manager'], button: string): boolean {
  return manager.modal()?.shown.includes(`[${button}]`) ?? false;
}

/** The other manager approves whatever they are asked for, as often as the button is there. */
async function waitUntil(
  isOver: () => Promise<boolean>,
  { owner }: CrashingTeam,
  { name }: Story,
): Promise<void> {
  const approve = async () => {
    if (owner.screen().includes('[Approve]')) await owner.presses('Approve').catch(() => undefined);
    return isOver();
  };
  await vi.waitUntil(approve, SETTLED_WITHIN).catch(() => {
    throw new Error(`${name} does not settle:\n${owner.screen()}`);
  });
}

function isSettled({ operations, deletes, approvals }: Stored, { isRuled, request }: Story): boolean {
  const isTold =
    operations.every(isOperationTold) && deletes.every(isDeleteTold) && approvals.every(isApprovalTold);
  const orders = request === 'delete' ? deletes : operations;
  const isCanceled = approvals.some(({ state }) => state === 'canceled');
  return (!isRuled || approvals.length > 0) && (orders.length > 0 || isCanceled) && isTold;
}

function isDeleteTold({ endedAt, notifiedAt }: DeleteOperation): boolean {
  return notifiedAt !== undefined && endedAt !== undefined;
}

function isOperationTold({ state, needsDecision, notifiedAt }: Operation): boolean {
  return notifiedAt !== undefined && (state === 'settled' || state === 'refused' || needsDecision);
}

function isApprovalTold({ state, isNotified }: Approval): boolean {
  return isNotified && state !== 'open';
}

/** What has to be true in the end, wherever the app crashed. */
async function checkLaws(team: CrashingTeam, { request }: Story): Promise<void> {
  const { operations, deletes, passwords } = await team.read();
  const sent = team.hosting.requests({ operation: request }).length;
  expect(sent, 'requests for one confirmation').toBeLessThanOrEqual(1);
  expect(operations.filter(({ state }) => state === 'settled').length, 'paid orders').toBe(team.charges());
  for (const { state, hasPassword, serverId = 0 } of operations) {
    if (state === 'settled' && hasPassword)
      expect(passwords.get(serverId), 'the root password').toBe(team.hosting.passwordOf(serverId));
  }
  if (request === 'delete') {
    const isGone = team.servers().length === 0;
    const ends = deletes.map(({ state }) => state === 'settled');
    expect(ends, 'whether the delete is settled').toEqual(deletes.length > 0 || isGone ? [isGone] : []);
  }
  for (const { id } of team.servers()) {
    const password = team.hosting.passwordOf(id) ?? 'none';
    for (const other of team.others) other.doesNotSee(password);
  }
}

/** Each try starts two processes and lets them settle. The long form tries every point. */
const PATIENCE = { timeout: 3_600_000 };

const AT_ONCE = 2;

const tried: { readonly name: string; readonly count: number; readonly all: number }[] = [];

afterAll(() => {
  const sum = (of: 'count' | 'all') => tried.reduce((total, story) => total + story[of], 0);
  const each = tried.map(({ name, count }) => `${name}: ${count}`).join(', ');
  process.stdout.write(`${sum('count')} crash points tried of ${sum('all')} (${each})\n`);
});

/** All points, or one: another one for each story. */
function choosePoints(all: number, { after }: Story): readonly number[] {
  return isLong ? Array.from({ length: all }, (_, at) => at + 1) : [Math.ceil(after * all)];
}

/** Kills a process of the app (`kill -9`) before and after every write and request, and starts another one. */
describe.each(STORIES)('an app that crashes during: $name', PATIENCE, (story) => {
  test('pays at most once, tells the outcome, and keeps the root password from others', async () => {
    const all = (await tryCrash(story, 0)).length;
    expect(all).toBeGreaterThan(20);
    const points = [...choosePoints(all, story)];
    const count = points.length;
    const work = async () => {
      for (let at = points.shift(); at !== undefined; at = points.shift()) await tryCrash(story, at);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    tried.push({ name: story.name, count, all });
  });
});
