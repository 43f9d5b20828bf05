import { expect } from 'vitest';
import type { Operation, Purchase } from '../../../../src/purchases/operation.ts';
import type { MortalProcess } from './mortal-process.ts';
import { CREATE, decide, ID, press, RENEWAL, type Scenario, save, show } from './scenario.ts';
import type { Script } from './scripted-hosting.ts';

/** One order: what is bought, what the hosting company does, and what users do besides. */
export interface Order {
  readonly name: string;
  readonly purchase: Purchase;
  readonly script?: Script;
  readonly arrange?: (scenario: Scenario) => void;
  /** What a manager decides if the app leaves it to one. */
  readonly decision?: 'done' | 'not_done';
  readonly isSaved?: boolean;
}

const lost = (isDone: boolean): Script => ({ kind: 'no_use', code: 'no_answer', isDone });
const checking = (isDone: boolean): Script => ({ kind: 'checking', isDone, afterMs: 20_000 });
const refused = (code: Extract<Script, { kind: 'refused' }>['code']): Script => ({ kind: 'refused', code });

const create = (name: string, script?: Script, more: Partial<Order> = {}): Order => ({
  name: `a create ${name}`,
  purchase: CREATE,
  script,
  ...more,
});
const renewal = (name: string, script?: Script, more: Partial<Order> = {}): Order => ({
  ...create(name, script, more),
  name: `a renewal ${name}`,
  purchase: RENEWAL,
});

export const ORDERS: readonly Order[] = [
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

const find = ({ store }: Scenario) => store.ledger.find(ID);
const hasNothingLeft = (operation: Operation | undefined) =>
  operation === undefined ||
  (operation.notifiedAt !== undefined && (operation.endedAt !== undefined || operation.needsDecision));

/** All that one process lives to see of an order. What the store throws at a user, the user sees as an error. */
export async function live(
  process: MortalProcess,
  order: Order,
  scenario: Scenario,
  isPressed: boolean,
): Promise<void> {
  const goOn = () => process.runBackground(async () => hasNothingLeft(await find(scenario)));
  const user = (act: Promise<unknown>) => act.catch(() => undefined);
  if (isPressed) await user(press(process, order.purchase));
  await goOn();
  const operation = await find(scenario);
  if (!process.isDead() && operation?.needsDecision) {
    const serverId = scenario.hosting.servers.at(-1)?.id;
    const isDone = order.decision === 'done' && scenario.hosting.charges > 0 && serverId !== undefined;
    await user(decide(process, isDone ? { serverId } : {}));
    await goOn();
  }
  if (!process.isDead() && order.isSaved) await saveShown(process, scenario);
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
export async function checkLaws(scenario: Scenario, order: Order, isCertain: boolean): Promise<void> {
  const { hosting, told, store } = scenario;
  const operation = await find(scenario);
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
    if (!held) expect(order.isSaved, 'an erased password').toBe(true);
    else expect(held.password.reveal(), 'the stored password').toBe(hosting.passwordOf(operation.serverId));
  }
}
