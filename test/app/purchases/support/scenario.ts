import type { Store } from '../../../../src/context.ts';
import type { Caller } from '../../../../src/core/entry.ts';
import { money } from '../../../../src/core/money.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { openStore } from '../../../../src/db/open-store.ts';
import { type Confirmed, confirmPurchase } from '../../../../src/purchases/confirm.ts';
import { decideUnconfirmed } from '../../../../src/purchases/decide.ts';
import type { Operation, Purchase } from '../../../../src/purchases/operation.ts';
import { erasePassword, showPassword } from '../../../../src/purchases/passwords.ts';
import type { HeldPassword } from '../../../../src/purchases/ports.ts';
import type { DeleteOperation } from '../../../../src/servers/deletion.ts';
import { T0, vault } from '../../../store/fixtures.ts';
import { createHandClock, type HandClock } from './hand-clock.ts';
import { createMortalDatabase, type MortalDatabase } from './mortal-database.ts';
import { type Fate, type MortalProcess, startProcess } from './mortal-process.ts';
import { createScriptedHosting, MONTH_MS, type ScriptedHosting } from './scripted-hosting.ts';

/** What the user was told, in order; `sent` is how many paid requests had left by then. */
interface Told {
  readonly operation: Operation;
  readonly password: string | undefined;
  readonly sent: number;
}

/** One order of one user, over as many processes as it takes. */
export interface Scenario {
  readonly clock: HandClock;
  readonly database: MortalDatabase;
  readonly store: Store;
  readonly hosting: ScriptedHosting;
  readonly told: readonly Told[];
  /** What users were told of deletes, in order; by whom each was approved. */
  readonly toldDeletes: readonly { readonly operation: DeleteOperation; readonly by: string | undefined }[];
  /** Of which orders the user was told that their status could not be saved. */
  readonly unsaved: readonly Operation[];
  start(fate?: Fate, owners?: readonly string[]): MortalProcess;
  close(): Promise<void>;
}

export const ID = '01K5CONFIRMATION0000000000';
export const CREATE = {
  kind: 'create',
  order: { plan: 's1', location: 'ams', image: 'debian-12', label: 'web-1' },
} as const satisfies Purchase;
export const RENEWAL = {
  kind: 'renew',
  serverId: 1,
  label: 'db-1',
  paidUntil: T0 + MONTH_MS,
} as const satisfies Purchase;

/** The account is connected, and nothing is ordered yet. */
export async function openScenario(): Promise<Scenario> {
  const clock = createHandClock();
  const database = createMortalDatabase();
  const { openEngine } = database;
  const store = await openStore({
    databaseUrl: 'sqlite::memory:',
    vault,
    system: clock.system(),
    openEngine,
  });
  const hosting = createScriptedHosting(clock);
  const told: Told[] = [];
  const unsaved: Operation[] = [];
  const toldDeletes: { operation: DeleteOperation; by: string | undefined }[] = [];
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  await store.apiKeys.put('T1', new Secret('api-key'), 'U1', T0 - 1);
  const notifier = {
    notify: async (operation: Operation, held?: { readonly password: Secret<string> }) => {
      told.push({ operation, password: held?.password.reveal(), sent: hosting.requests.length });
      return { isNotified: true };
    },
    announceStart: () => undefined,
    notifyLowBalance: async () => undefined,
    notifyQueued: async () => undefined,
    notifyUnsaved: async (operation: Operation) => {
      unsaved.push(operation);
    },
  };
  const deleteNotifier = {
    notify: async (operation: DeleteOperation, by: string | undefined) =>
      toldDeletes.push({ operation, by }) > 0,
  };
  const around = { clock, database, store, hosting: hosting.api, notifier, deleteNotifier };
  return {
    clock,
    database,
    store,
    hosting,
    told,
    toldDeletes,
    unsaved,
    start: (fate, owners) => startProcess(around, fate, owners),
    close: () => store.close(),
  };
}

export const callerOf = (userId: string): Caller => ({
  actor: { workspaceId: 'T1', userId, channelId: 'C1' },
  surface: 'modal',
});

/** A press of **Create and pay** or **Renew and pay**, and everything that it sets off. */
export async function press(
  process: MortalProcess,
  purchase: Purchase = CREATE,
  { id = ID, userId = 'U1' }: { readonly id?: string; readonly userId?: string } = {},
): Promise<Confirmed | undefined> {
  let confirmed: Confirmed | undefined;
  const confirmation = { id, purchase, price: money(499) };
  const work = async () => {
    confirmed = await process.entry.execute(confirmPurchase, confirmation, callerOf(userId));
    await process.entry.drain();
  };
  await process.run(work());
  return confirmed;
}

/** A manager decides what became of an unconfirmed order. */
export async function decide(
  process: MortalProcess,
  decision: { readonly serverId?: number; readonly isDoneElsewhere?: boolean },
): Promise<void> {
  const input = { operationId: ID, ...decision };
  await process.run(process.entry.execute(decideUnconfirmed, input, callerOf('U2')));
}

/** The creator asks for the password. */
export async function show(process: MortalProcess, userId = 'U1'): Promise<string | undefined> {
  let shown: string | undefined;
  const work = async () => {
    const show = async ({ password }: HeldPassword) => {
      shown = password.reveal();
      return true;
    };
    await process.entry.execute(showPassword, { ref: { typed: 'web-1' }, show }, callerOf(userId));
  };
  await process.run(work());
  return shown;
}

/** The creator has saved the password. */
export async function save(process: MortalProcess): Promise<void> {
  await process.run(process.entry.execute(erasePassword, { operationId: ID }, callerOf('U1')));
}
