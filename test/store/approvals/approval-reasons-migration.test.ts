import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../../../src/db/migrate.ts';
import { firstTables } from '../../../src/db/migrations/0001-first-tables.ts';
import { openSqlite } from '../../../src/db/sqlite.ts';
import type { Tables } from '../../../src/db/tables.ts';
import { toApprovalRow } from '../../../src/requests/approval-store.ts';
import { realSystem } from '../../../src/system.ts';
import { makeFolder, newApproval, open } from '../support.ts';

test('an approval that the first release canceled keeps its reason', async () => {
  const path = join(makeFolder(), 'vps.sqlite');
  const engine = openSqlite(path, { lock: true, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  await migrate(db, { '0001-first-tables': firstTables });
  const row = toApprovalRow(newApproval(), 0);
  const { reason_details: _later, key_generation: _laterStill, denial_reason: _last, ...first } = row;
  await db
    .insertInto('approvals')
    .values({ ...first, reason: 'price_moved' })
    .execute();
  await sql`update approvals set state = 'void'`.execute(db);
  await db.destroy();
  engine.close();
  const store = await open(`sqlite:${path}`);
  expect(await store.approvals.find(row.id)).toMatchObject({
    state: 'canceled',
    reason: { code: 'price_moved', details: {} },
  });
});
