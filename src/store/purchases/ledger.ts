import type { Ledger } from '../../app/purchases/ports.ts';
import { readVersions } from '../account/versions.ts';
import type { Foundation } from '../engine/database.ts';
import { createLeases } from './leases.ts';
import { createLedgerLists } from './ledger-lists.ts';
import { createLedgerMoves } from './ledger-moves.ts';
import { prepareOperation } from './ledger-prepare.ts';
import { settle } from './ledger-settle.ts';
import { createPrices } from './prices.ts';
import { keepAnswer } from './sealed-answers.ts';
import { sumSpent } from './spending.ts';

/** The ledger of paid operations (docs/design.md 4). */
export function createLedger(foundation: Foundation): Ledger {
  const { db, engine } = foundation;
  return {
    ...createLedgerLists(foundation),
    ...createPrices(foundation),
    ...createLeases(foundation),
    ...createLedgerMoves(foundation),
    prepare: (operation, budget) => engine.transact(db, (trx) => prepareOperation(trx, operation, budget)),
    keepAnswer: (id, answer, at) => engine.transact(db, (trx) => keepAnswer(trx, foundation, id, answer, at)),
    settle: (id, settled, audit) => engine.transact(db, (trx) => settle(trx, foundation, id, settled, audit)),
    readVersions: (workspaceId) => readVersions(db, workspaceId),
    sumSpent: (workspaceId, actorId, since) => sumSpent(db, workspaceId, actorId, since),
  };
}
