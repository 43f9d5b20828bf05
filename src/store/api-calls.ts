import type { ApiCalls } from '../app/hosting-api.ts';
import type { Foundation } from './engine/database.ts';

/** When requests left, durably. A burst of 300 calls is one commit instead of 300. */
export function createApiCalls({ db, newId }: Foundation): ApiCalls {
  let waiting: { account: string; at: number }[] = [];
  let commit: Promise<void> | undefined;

  /** Waits for the end of this turn of the event loop: all calls until then share one commit. */
  const commitTogether = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const calls = waiting;
    waiting = [];
    commit = undefined;
    await db
      .insertInto('api_calls')
      .values(calls.map((call) => ({ id: newId(), ...call })))
      .execute();
  };

  return {
    add: (account, at) => {
      waiting.push({ account, at });
      commit ??= commitTogether();
      return commit;
    },
    listSince: async (account, at) => {
      const rows = await db
        .selectFrom('api_calls')
        .select('at')
        .where('account', '=', account)
        .where('at', '>=', at)
        .orderBy('at')
        .execute();
      return rows.map((row) => row.at);
    },
    removeBefore: async (at) => {
      await db.deleteFrom('api_calls').where('at', '<', at).execute();
    },
  };
}
