import { money } from '../../src/core/money.ts';
import type { Purchase } from '../../src/purchases/operation.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { entry } from '../store/fixtures.ts';
import type { Team } from './team.ts';

/** An order as a test records it: of small for 5.90 by @mara, settled now. */
export interface RecordedOrder {
  readonly purchase: Purchase;
  readonly price?: number | undefined;
  readonly by?: keyof typeof USERS;
  readonly at?: number;
  readonly ends?: 'settled' | 'unconfirmed' | 'decided';
  readonly serverId?: number;
}

export function createOf(label: string, plan = 'small'): Purchase {
  return { kind: 'create', order: { plan, location: 'ams', image: 'debian-13', label } };
}

let recorded = 0;

/** Writes an order into the team's ledger without the hosting service, which has its server already. */
export async function record({ app }: Team, order: RecordedOrder): Promise<void> {
  const { apiKeys, ledger, system } = app.ports;
  const { purchase, by = 'mara', at = system.now(), ends = 'settled', serverId } = order;
  recorded += 1;
  const id = `01K5RECORDED${String(recorded).padStart(14, '0')}`;
  const actorId = USERS[by].id;
  const price = 'price' in order ? order.price : 590;
  const priced = price === undefined ? {} : { price: money(price) };
  await ledger.prepare({ id, workspaceId: TEAM.id, actorId, purchase, at, ...priced });
  const sentAt = at + 1;
  await ledger.lease(id, { owner: 'test', now: sentAt, until: sentAt + 1000 });
  const permit = await ledger.readPermit(TEAM.id, sentAt);
  const key = await apiKeys.find(TEAM.id);
  const sent = await ledger.markSent(id, {
    at: sentAt,
    owner: 'test',
    account: key?.account ?? ['a'],
    knownIds: [],
    permit,
  });
  if (sent !== 'sent') throw new Error(`the order is ${sent}`);
  const audit = entry({ workspaceId: TEAM.id, actorId });
  if (ends === 'settled') {
    const made = serverId === undefined ? {} : { serverId };
    const isSettled = await ledger.settle(id, { at: sentAt, ...made }, audit);
    if (!isSettled) throw new Error('the order is not settled');
  } else {
    const reason = { code: 'no_answer', details: {} } as const;
    await ledger.markUnconfirmed(id, { reason }, audit);
    if (ends === 'decided') {
      const decided = {
        at: sentAt,
        reason: { code: 'decided_not_done', details: {} },
        decidedBy: actorId,
      } as const;
      await ledger.refuse(id, decided, audit);
    }
    await ledger.release(id, 'test');
  }
}
