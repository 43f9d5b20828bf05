import { AsyncLocalStorage } from 'node:async_hooks';
import { DatabaseUnreachable } from '../../../../src/core/errors.ts';
import type { openEngine } from '../../../../src/db/database.ts';
import { CommitUnknown } from '../../../../src/db/engine.ts';
import {
  never,
  openWatched,
  type Statement,
  type Watch,
  type Watched,
} from '../../../support/watched-database.ts';

/** What a step comes to for the process that takes it. */
type Passage = 'passes' | 'dies' | 'fails';

/** One process, as the database knows it. */
export interface Client {
  /** `isRead` says that the step changes nothing outside of the process. */
  step(name: string, isRead: boolean): Passage;
}

/** A database that outlives the processes that use it, and at whose border they die or find it failing. */
export interface MortalDatabase {
  readonly openEngine: typeof openEngine;
  /** The same object, whose methods use the database as that process. What belongs to none takes no steps. */
  belongingTo<Owned extends object>(client: Client, owned: Owned): Owned;
}

/**
 * The process that a piece of work belongs to. One for all databases: Node.js 20 asks every storage that was ever used at each new
 * promise, so that one for each database makes every test after it slower.
 */
const clients = new AsyncLocalStorage<Client>();

export function createMortalDatabase(): MortalDatabase {
  /** The states that each transaction has given to operations and approvals. */
  const given = new WeakMap<Watched, string[]>();
  const watch: Watch = async (statement, run, connection) => {
    const client = clients.getStore();
    if (!client || statement.sql === 'rollback') return run();
    const states = given.get(connection) ?? [];
    given.set(connection, states);
    const { name, isRead, isLook } = describe(statement, states);
    const pass = async (moment: 'before' | 'after', changesNothing: boolean) => {
      const passage = client.step(`${moment} ${name}`, changesNothing);
      if (passage === 'dies') await connection.abandon().then(never);
      const cause = new Error(`the database fails ${moment} ${name}`);
      if (passage === 'fails')
        throw statement.sql === 'commit' ? new CommitUnknown(cause) : new DatabaseUnreachable(cause);
    };
    await pass('before', isRead || isLook);
    const result = await run();
    if (!isRead && (!isLook || hasRows(result))) await pass('after', false);
    return result;
  };
  return {
    openEngine: openWatched(watch),
    belongingTo: (client, owned) =>
      new Proxy(owned, {
        get: (target, property) => {
          const method: unknown = Reflect.get(target, property);
          if (typeof method !== 'function') return method;
          return (...args: unknown[]) => clients.run(client, () => Reflect.apply(method, target, args));
        },
      }),
  };
}

const WRITE = /^(insert|update|delete)(?: into| from)? "?(\w+)/;
const STATES: readonly unknown[] = [
  ...['prepared', 'sent', 'settled', 'refused', 'unconfirmed'],
  ...['open', 'approved', 'denied', 'withdrawn', 'expired', 'canceled'],
];

/** Names a statement, and a commit by the states that its transaction has given. */
function describe({ sql, parameters }: Statement, states: string[]) {
  if (sql === 'commit')
    return {
      name: states.length > 0 ? `commit of ${states.join(' and ')}` : sql,
      isRead: false,
      isLook: false,
    };
  const [, verb, table] = WRITE.exec(sql) ?? [];
  if (verb === undefined) return { name: sql, isRead: true, isLook: false };
  const [change = ''] = sql.split(' where ');
  const state = change.includes('"state"') && parameters.find((one) => STATES.includes(one));
  if (state) states.push(String(state));
  // The background asks for what is due all the time: only an answer is a write.
  return { name: `${verb} ${table}`, isRead: false, isLook: sql.includes('order by "due_at"') };
}

function hasRows(result: unknown): boolean {
  return (result as { readonly rows: readonly unknown[] }).rows.length > 0;
}
