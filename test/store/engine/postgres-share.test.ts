import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { realSystem } from '../../../src/system.ts';
import { asInTests, createEmptyDatabase, postgresUrl } from '../../support/postgres.ts';
import { open } from '../support.ts';

/** A database that allows so many connections to users other than superusers, and the address of such a user. */
async function createLimited(connections: number) {
  const url = await createEmptyDatabase();
  const name = new URL(url).pathname.slice(1);
  const owner = new Client(url);
  await owner.connect();
  onTestFinished(() => owner.end());
  const role = `vps_share_${name.replace(/\W/g, '')}`;
  await owner.query(`create role ${role} login password 'test'`);
  onTestFinished(async () => {
    await owner.query(`drop owned by ${role}; drop role ${role}`);
  });
  await owner.query(`grant all on schema public to ${role}`);
  await owner.query(`alter role ${role} connection limit ${connections}`);
  const limited = new URL(url);
  limited.username = role;
  limited.password = 'test';
  const count = async () => {
    const { rows } = await owner.query('select 1 from pg_stat_activity where usename = $1', [role]);
    return rows.length;
  };
  return { url: limited.href, count };
}

const openAmong = (url: string, maxProcesses: number) =>
  open(url, { system: realSystem, openEngine: asInTests, maxProcesses });

describe.skipIf(!postgresUrl)('MAX_PROCESSES', () => {
  test('gives each process its share of the connections, however much it has to do', async () => {
    const { url, count } = await createLimited(8);
    const stores = [await openAmong(url, 3), await openAmong(url, 3), await openAmong(url, 3)];
    const work = stores.flatMap(({ apiCalls }) => Array.from({ length: 50 }, () => apiCalls.listTaken('a')));
    // One more would be refused by the server.
    expect((await Promise.all(work)).flat()).toEqual([]);
    expect(await count()).toBeGreaterThan(3);
  });

  test('refuses to start where fewer than two connections are left for each', async () => {
    const { url } = await createLimited(8);
    await expect(openAmong(url, 5)).rejects.toThrow(
      'The database allows 8 connections, too few for 5 processes (MAX_PROCESSES): each needs 2.',
    );
  });

  test('is never more than a process uses without it', async () => {
    const { url, count } = await createLimited(60);
    const store = await openAmong(url, 1);
    await Promise.all(Array.from({ length: 60 }, () => store.apiCalls.listTaken('a')));
    expect(await count()).toBeLessThanOrEqual(11);
  });
});
