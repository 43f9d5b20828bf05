import { expect } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import type { Purchase } from '../../../src/purchases/operation.ts';
import { answerApproval } from '../../../src/requests/approval.ts';
import { carryOutDelete, confirmDelete } from '../../../src/servers/delete.ts';
import type { DeleteOperation } from '../../../src/servers/deletion.ts';
import { isLong } from '../../support/tries.ts';
import {
  CREATE,
  callerOf,
  decide,
  type Fate,
  ID,
  type MortalProcess,
  openScenario,
  press,
  RENEWAL,
  type Scenario,
  save,
  show,
} from './scenario.ts';
import { lost, type Script } from './scripted-hosting.ts';

/** What users do, and has to be true in the end. */
interface Story {
  readonly name: string;
  /** What the hosting company does. */
  readonly script?: Script | undefined;
  arrange?(scenario: Scenario): unknown;
  /** All that one process lives to see of it. */
  live(process: MortalProcess, scenario: Scenario, isPressed: boolean): Promise<void>;
  checkLaws(scenario: Scenario, isCertain: boolean): Promise<void>;
}

/** What users do besides ordering. */
interface Besides extends Pick<Story, 'arrange'> {
  /** What a manager decides if the app leaves it to one. */
  readonly decision?: 'done' | 'not_done';
  readonly isSaved?: boolean;
}

const checking = (isDone: boolean): Script => ({ kind: 'checking', isDone, afterMs: 20_000 });

const refused = (code: Extract<Script, { kind: 'refused' }>['code']): Script => ({ kind: 'refused', code });

const order =
  (kind: string, purchase: Purchase) =>
  (name: string, script?: Script, { arrange, ...besides }: Besides = {}): Story => ({
    name: `${kind} ${name}`,
    script,
    arrange,
    live: (process, scenario, isPressed) => live(process, purchase, besides, scenario, isPressed),
    checkLaws: (scenario, isCertain) => checkLaws(scenario, besides, isCertain),
  });
const create = order('a create', CREATE);
const renewal = order('a renewal', RENEWAL);

const ORDERS: readonly Story[] = [
  create('that is done'),
  create('whose password is shown again and saved', undefined, { isSaved: true }),
  create('that is answered late', { kind: 'late', afterMs: 25_000 }),
  create('that is tried again after the rate limit', { kind: 'rate_limited' }),
  create('whose answer is lost', lost(true)),
  create('that never arrived', lost(false)),
  create('that the supplier confirms later', checking(true)),
  create('that the supplier gives up', checking(false)),
  create('that the API refuses', refused('not_enough_balance')),
  create('that could not be done', refused('not_created')),
  create('whose plan is gone', undefined, { arrange: dropPlans }),
  create('that a manager decides was done', { kind: 'ambiguous', isOurs: true }, { decision: 'done' }),
  create(
    'that a manager decides was not done',
    { kind: 'ambiguous', isOurs: false },
    { decision: 'not_done' },
  ),
  renewal('that is done'),
  renewal('that is answered late', { kind: 'late', afterMs: 25_000 }),
  renewal('whose answer is lost', lost(true)),
  renewal('that never arrived', lost(false)),
  renewal('that the API refuses', refused('not_enough_balance')),
  renewal('of a server that is gone', undefined, { arrange: dropServers }),
];

function dropPlans({ hosting }: Scenario): void {
  hosting.plans = [];
}

function dropServers({ hosting }: Scenario): void {
  hosting.servers.length = 0;
}

/** All that one process lives to see of an order. What the store throws at a user, the user sees as an error. */
async function live(
  process: MortalProcess,
  purchase: Purchase,
  { decision, isSaved }: Besides,
  scenario: Scenario,
  isPressed: boolean,
): Promise<void> {
  const user = (act: Promise<unknown>) => act.catch(() => undefined);
  if (isPressed) await user(press(process, purchase));
  await scenario.settle(process);
  const operation = await scenario.find();
  if (!process.isDead() && operation?.needsDecision) {
    const serverId = scenario.hosting.servers.at(-1)?.id;
    const isDone = decision === 'done' && scenario.hosting.charges > 0 && serverId !== undefined;
    await user(decide(process, isDone ? { serverId } : {}));
    await scenario.settle(process);
  }
  if (!process.isDead() && isSaved) await saveShown(process, scenario);
}

/** Only a password that was seen is saved. */
async function saveShown(process: MortalProcess, { store, hosting }: Scenario): Promise<void> {
  const held = await store.passwords.find(ID);
  if (!held) return;
  const shown = await show(process).catch(() => undefined);
  if (shown === undefined || process.isDead()) return;
  expect(shown).toBe(hosting.passwordOf(held.serverId));
  await save(process).catch(() => undefined);
}

/** What has to be true of an order in the end, whatever happened to the processes. */
async function checkLaws(scenario: Scenario, { isSaved }: Besides, isCertain: boolean): Promise<void> {
  const { hosting, told, store } = scenario;
  const operation = await scenario.find();
  expect(
    hosting.requests.filter(({ mayHavePaid }) => mayHavePaid).length,
    'paid requests',
  ).toBeLessThanOrEqual(1);
  expect(hosting.charges, 'charges').toBeLessThanOrEqual(1);
  if (!operation) {
    expect({ isCertain, sent: hosting.requests.length, told: told.length }).toEqual({
      isCertain: false,
      sent: 0,
      told: 0,
    });
    return;
  }
  expect(['settled', 'refused']).toContain(operation.state);
  const isPaid = hosting.charges - hosting.returned === 1;
  expect(operation.state, 'what it came to').toBe(isPaid ? 'settled' : 'refused');
  expect(told.at(-1)?.operation.state, 'what the user was told last').toBe(operation.state);
  const refusedAt = told.find((each) => each.operation.state === 'refused')?.sent;
  expect(refusedAt ?? hosting.requests.length, 'sent after it was refused').toBe(hosting.requests.length);
  if (operation.hasPassword && operation.serverId !== undefined) {
    // Once it is stored it can be shown until the creator has saved it, and only what was shown can be saved.
    const held = await store.passwords.find(ID);
    if (!held) expect(isSaved, 'an erased password').toBe(true);
    else expect(held.password.reveal(), 'the stored password').toBe(hosting.passwordOf(operation.serverId));
  }
}

/** The server that is there from the start, with its label. */
const DB = { id: 1, label: 'db-1', paidUntil: RENEWAL.paidUntil, typedLabel: 'db-1', formId: ID };

/** A user's own delete, or one that another user has to approve. */
export type Way = (typeof WAYS)[number];
export const WAYS = ['own', 'approved'] as const;

const DELETES: readonly Story[] = WAYS.flatMap((way) => {
  const withScript = (name: string, script?: Script): Story => ({
    name: `${way === 'own' ? 'a delete' : 'an approved delete'} ${name}`,
    script,
    arrange: (scenario) => arrangeDelete(way, scenario),
    live: async (process, scenario, isPressed) => {
      if (isPressed) await pressDelete(way, process).catch(() => undefined);
      await goOn(process, scenario);
    },
    checkLaws: checkDeleteLaws,
  });
  return [
    withScript('that is done'),
    withScript('that is answered late', { kind: 'late', afterMs: 25_000 }),
    withScript('that is tried again after the rate limit', { kind: 'rate_limited' }),
    withScript('whose answer is lost', lost(true)),
    withScript('that never arrived', lost(false)),
    withScript('that the API refuses', { kind: 'refused', code: 'wrong_state' }),
  ];
});

/** Requires a second person where the delete is to be approved. */
export async function arrangeDelete(way: Way, { store }: Scenario): Promise<void> {
  if (way === 'own') return;
  const settings = { ...DEFAULT_SETTINGS, approval: { ...DEFAULT_SETTINGS.approval, delete: true } };
  await store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, settings);
}

/** A press of **Delete**, or what else has to happen until it is approved, and all that it sets off. */
export async function pressDelete(way: Way, process: MortalProcess): Promise<void> {
  const { entry } = process;
  const own = async () => {
    await entry.execute(confirmDelete, DB, callerOf('U1'));
    await entry.execute(carryOutDelete, { formId: ID }, callerOf('U1'));
  };
  const approved = async () => {
    await entry.execute(confirmDelete, DB, callerOf('U1'));
    await entry.execute(answerApproval, { id: ID, answer: { kind: 'approve' } }, callerOf('U2'));
    await entry.drain();
  };
  await process.run(way === 'own' ? own() : approved());
}

export const findDelete = ({ store }: Scenario) => store.ledger.findDelete(ID);

/** Lets the background work until nothing is left to do. */
export async function goOn(process: MortalProcess, scenario: Scenario, tickMs?: number): Promise<void> {
  const isOver = (operation: DeleteOperation | undefined) =>
    operation === undefined || (operation.endedAt !== undefined && operation.notifiedAt !== undefined);
  await process.runBackground(async () => isOver(await findDelete(scenario)), tickMs);
}

/** What has to be true of a delete in the end, whatever happened to the processes. */
async function checkDeleteLaws(scenario: Scenario, isCertain: boolean): Promise<void> {
  const { hosting, toldDeletes, store } = scenario;
  const operation = await findDelete(scenario);
  const mayHaveRun = hosting.requests.filter(({ mayHavePaid }) => mayHavePaid).length;
  expect(mayHaveRun, 'requests that may have run').toBeLessThanOrEqual(1);
  if (!operation) {
    const facts = { isCertain, sent: hosting.requests.length, told: toldDeletes.length };
    expect(facts).toEqual({ isCertain: false, sent: 0, told: 0 });
    return;
  }
  const { state, endedAt, notifiedAt } = operation;
  expect([endedAt, notifiedAt].includes(undefined), 'is left without an end').toBe(false);
  const isGone = !hosting.servers.some(({ id }) => id === DB.id);
  expect(state === 'settled', 'whether it is settled').toBe(isGone);
  if (state === 'refused') expect(mayHaveRun, 'requests of a refused delete').toBe(0);
  expect(toldDeletes.at(-1)?.operation.state, 'what the user was told last').toBe(state);
  const entries = await store.audit.list({ workspaceId: 'T1', limit: 20 });
  const outcomes = entries
    .filter(({ action, actId }) => action === 'delete' && actId === ID)
    .map(({ outcome }) => outcome);
  expect(outcomes.at(-1), 'how its act begins').toBe('started');
  const end = { settled: 'done', refused: 'failed' }[state as string] ?? 'in_doubt';
  expect(outcomes[0], 'how its act ends').toBe(end);
}

export const STORIES: readonly Story[] = [...ORDERS, ...DELETES];

/** One life with this fate, and another one that finds what is left. Whether the fate has struck, and where. */
async function survive(story: Story, fate: Fate, isPressedAgain: boolean): Promise<string | undefined> {
  const scenario = await openScenario();
  try {
    if (story.script) scenario.hosting.script(story.script);
    await story.arrange?.(scenario);
    const first = scenario.start(fate);
    await story.live(first, scenario, true);
    const struckAt = first.isStruck() ? first.steps.at(-1) : undefined;
    await story.live(scenario.start(), scenario, isPressedAgain);
    await story.checkLaws(scenario, isPressedAgain || struckAt === undefined).catch((error: unknown) => {
      throw new Error(`${JSON.stringify(fate)} (${struckAt}): ${error}`, { cause: error });
    });
    return struckAt;
  } finally {
    await scenario.close();
  }
}

/**
 * `npm run test:attacks` tries every step; `npm test` only every twelfth one, to stay within its minutes: other ones for each
 * story, so that together they cover all that stories have in common.
 */
const STRIDE = isLong ? 1 : 12;

/** Tries the steps at which the fate can strike, until a run passes without it. */
export async function sweep(
  story: Story,
  fateAt: (at: number) => Fate,
  isPressedAgain: (tried: number) => boolean,
): Promise<readonly string[]> {
  const tried: string[] = [];
  for (let at = 1 + (STORIES.indexOf(story) % STRIDE); ; at += STRIDE) {
    const struckAt = await survive(story, fateAt(at), isPressedAgain(tried.length));
    if (struckAt === undefined) return tried;
    tried.push(struckAt);
  }
}

/** The shortest story has this many steps: with fewer, the sweep would have lost sight of some. */
export const LEAST_STEPS = 24 / STRIDE;
