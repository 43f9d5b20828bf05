import { join } from 'node:path';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { toApprovalRow } from '../../../src/store/approvals/approval-rows.ts';
import { migrate } from '../../../src/store/engine/migrate.ts';
import { openSqlite } from '../../../src/store/engine/sqlite-engine.ts';
import type { Tables } from '../../../src/store/engine/tables.ts';
import { firstTables } from '../../../src/store/migrations/0001-first-tables.ts';
import { makeFolder, newApproval, open } from '../support.ts';

test('an approval that the first release canceled keeps its reason', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  const engine = openSqlite(path, { lock: false });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  await migrate(db, { '0001-first-tables': firstTables });
  const { reason_details: _later, key_generation: _laterStill, ...row } = toApprovalRow(newApproval(), 0);
  await db
    .insertInto('approvals')
    .values({ ...row, state: 'void', reason: 'price_moved' })
    .execute();
  await db.destroy();
  engine.close();
  const store = await open(`sqlite:${path}`);
  expect(await store.approvals.find(row.id)).toMatchObject({
    state: 'void',
    reason: { code: 'price_moved', details: {} },
  });
});
