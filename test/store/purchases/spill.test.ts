import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { createSpill } from '../../../src/purchases/spill.ts';
import { makeFolder, vault } from '../support.ts';

const DISK_BYTES = 256 * 1024;

/** A file system of its own, which only root can mount. */
function mountDisk(): string | undefined {
  const disk = makeFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]));
  return disk;
}

function fill(disk: string, name = 'filler'): void {
  expect(() => writeFileSync(join(disk, name), Buffer.alloc(2 * DISK_BYTES))).toThrow('ENOSPC');
}

/** An answer with a root password of that length. */
const answerOf = (length: number, serverId = 7) => ({ serverId, password: new Secret('x'.repeat(length)) });
const reveal = async (spill: ReturnType<typeof createSpill>) =>
  (await spill.readAll()).answers.map(({ operationId, password }) => [
    operationId,
    password?.reveal().length,
  ]);

describe('a paid answer on a full disk', () => {
  test('is kept whole, up to 16 KiB of it', async ({ skip }) => {
    const disk = mountDisk() ?? skip('needs root, to mount a small file system');
    const folder = join(disk, 'answers');
    const spill = createSpill(folder, vault);
    fill(disk);
    await spill.write('long', answerOf(16_384));
    expect(await reveal(createSpill(folder, vault))).toEqual([['long', 16_384]]);
  });

  test('is not reported as kept if only a part of it fits, and leaves its space for a shorter one', async ({
    skip,
  }) => {
    const disk = mountDisk() ?? skip('needs root, to mount a small file system');
    const folder = join(disk, 'answers');
    const spill = createSpill(folder, vault);
    fill(disk);
    await expect(spill.write('longest', answerOf(100_000))).rejects.toThrow('ENOSPC');
    expect(await reveal(spill)).toEqual([]);
    await spill.write('short', answerOf(24));
    expect(await reveal(createSpill(folder, vault))).toEqual([['short', 24]]);
  });

  test('leaves space for the answers of other accounts', async ({ skip }) => {
    const disk = mountDisk() ?? skip('needs root, to mount a small file system');
    const folder = join(disk, 'answers');
    const spill = createSpill(folder, vault);
    fill(disk);
    const names = Array.from({ length: 7 }, (_, at) => `order-${at}`);
    for (const name of names) await spill.write(name, answerOf(24));
    expect((await reveal(createSpill(folder, vault))).toSorted()).toEqual(names.map((name) => [name, 24]));
  });
});

test('a paid answer in the file of another order is not read', async () => {
  const folder = makeFolder();
  const spill = createSpill(folder, vault);
  await spill.write('one', answerOf(24));
  renameSync(join(folder, 'one.sealed'), join(folder, 'other.sealed'));
  expect(await spill.readAll()).toEqual({ answers: [], unreadable: 1 });
});

test('a reserve that is too small, from an earlier version or a full disk, is enlarged once there is space', async () => {
  const folder = makeFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'reserve'), Buffer.alloc(4096, 1));
  createSpill(folder, vault);
  expect(statSync(join(folder, 'reserve')).size).toBe(32 * 1024);
  expect(readdirSync(folder)).toEqual(['reserve']);
  expect(readFileSync(join(folder, 'reserve')).every((byte) => byte === 1)).toBe(true);
});
