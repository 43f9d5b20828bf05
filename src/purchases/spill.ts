import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import { nameOfError } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { Secret } from '../core/secret.ts';
import type { SealedPlace, Vault } from '../db/vault.ts';
import type { Settled } from './ledger.ts';
import { auditOfOperation, isOnlyDecided } from './operation.ts';

/**
 * The API's own answer to a paid request: its password exists nowhere else. Without `serverId`, it proves nothing, and `password` is
 * the whole answer to a create.
 */
export type PaidAnswer = Pick<Settled, 'serverId' | 'paidUntil' | 'password'>;

type SpilledAnswer = PaidAnswer & { readonly operationId: ConfirmationId };

/** How long the database may take. If it is stuck for longer, the answer is also kept in a file. */
const SLOW_MS = 1000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/** Stores an answer, however long that takes, and keeps it in a file once the database fails or is slow. */
export async function storeAnswer<Result>(
  operationId: ConfirmationId,
  answer: PaidAnswer,
  store: () => Promise<Result>,
  app: AppContext,
): Promise<Result> {
  const { log, system } = app;
  const logFailure = (words: string, error: unknown) =>
    log.error(words, { operationId, cause: nameOfError(error) });
  let isSpilled = false;
  const spill = async () => {
    if (isSpilled) return;
    try {
      await app.spill.write(operationId, answer);
      isSpilled = true;
    } catch (error) {
      logFailure('an answer to a paid order could not be written to a file either', error);
    }
  };
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const answered = new AbortController();
    const spilled = system.sleep(SLOW_MS, answered.signal).then(spill, () => undefined);
    try {
      const result = await store().finally(() => {
        answered.abort();
        return spilled;
      });
      // What the ledger didn't take may exist nowhere else: the next start tries it again.
      if (isSpilled && result !== false) await forgetSpilled(operationId, app);
      return result;
    } catch (error) {
      logFailure('an answer to a paid order could not be stored yet; trying again', error);
      await spill();
      await system.sleep(waitMs);
    }
  }
}

/** Removes an answer that the database has. If that fails, the next start finds that the answer is stored. */
async function forgetSpilled(operationId: ConfirmationId, { spill, log }: AppContext): Promise<void> {
  await spill.remove(operationId).catch(() => {
    log.warn('a stored answer could not be removed from its file', { operationId });
  });
}

/** Reads the answers that earlier processes left in files. Logs those whose encryption key is missing. */
export async function readSpilled({ spill, log }: AppContext): Promise<readonly SpilledAnswer[]> {
  const { answers, unreadable } = await spill.readAll();
  if (unreadable > 0)
    log.error(
      'answers to paid orders in files can’t be read or decrypted: put their key back, or make them readable',
      { unreadable },
    );
  return answers;
}

/** Stores the answers that an earlier process could not store. Returns those that still can't be stored. */
export async function storeSpilled(
  spilled: readonly SpilledAnswer[],
  app: AppContext,
): Promise<readonly SpilledAnswer[]> {
  const left: SpilledAnswer[] = [];
  for (const answer of spilled) {
    const isStored = await storeOne(answer, app).catch(() => false);
    if (isStored) await forgetSpilled(answer.operationId, app);
    else left.push(answer);
  }
  return left;
}

async function storeOne(
  { operationId, serverId, ...answer }: SpilledAnswer,
  app: AppContext,
): Promise<boolean> {
  const { ledger, system } = app;
  const operation = await ledger.find(operationId);
  if (!operation) return false;
  if (serverId === undefined) {
    if (answer.password) await ledger.keepAnswer(operationId, answer.password, system.now());
    return true;
  }
  const audit = auditOfOperation(operation, app, 'done', { serverId, surface: 'background' });
  const settled = { ...answer, serverId, at: system.now(), isFirstHand: true };
  const isStoredBefore =
    operation.state === 'settled' &&
    (operation.hasPassword || (answer.password === undefined && !isOnlyDecided(operation)));
  return (await ledger.settle(operationId, settled, audit)) || isStoredBefore;
}

/** A full disk takes no new file, but an existing one can be overwritten. Long enough for the longest answer that is kept, sealed. */
const RESERVE_BYTES = 32 * 1024;
const ENDING = '.sealed';

const storedAnswer = z.object({
  serverId: z.number().optional(),
  paidUntil: z.number().optional(),
  password: z.string().optional(),
});

export type Spill = ReturnType<typeof createSpill>;

/**
 * Keeps answers that the database can't take (docs/design.md 5.7) in files of a folder, sealed, for their owner only.
 * `isForReading`: creates nothing there, since the command line may run as another user, whose files the app can't write to.
 */
export function createSpill(folder: string | undefined, vault: Vault, isForReading = false) {
  // Without a folder, an answer is only in the memory of the process, which keeps trying to store it.
  const files = folder === undefined ? undefined : keepInFolder(folder, isForReading);
  return {
    /** Writes the answer, unless there already is one of this operation. */
    write: async (operationId: ConfirmationId, { password, ...answer }: PaidAnswer): Promise<void> => {
      const text = JSON.stringify({ ...answer, password: password?.reveal() });
      files?.write(operationId, vault.seal(text, placeOfSpilled(operationId)));
    },
    /** `unreadable` counts those whose encryption key is missing; they stay. */
    readAll: async () => {
      const found = (files?.list() ?? []).map(({ name, text }) => readAnswer(name, text, vault));
      const answers = found.filter((answer) => answer !== undefined);
      return { answers, unreadable: found.length - answers.length };
    },
    remove: async (operationId: ConfirmationId): Promise<void> => files?.remove(operationId),
  };
}

function keepInFolder(folder: string, isForReading: boolean) {
  const pathOf = (name: string) => join(folder, `${encodeURIComponent(name)}${ENDING}`);
  const reserve = join(folder, 'reserve');
  if (!isForReading) makeReserve(reserve);
  return {
    write: (name: string, text: string): void => {
      const path = pathOf(name);
      // A file gets this name only once it is whole.
      if (existsSync(path)) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Processes of one machine may share the folder: a rename gives the reserve to one of them.
      const part = `${path}.part`;
      renameIfThere(reserve, part);
      try {
        overwrite(part, text);
      } catch (error) {
        // Keeps the space for the next attempt, or for a shorter answer.
        renameIfThere(part, reserve);
        throw error;
      }
      renameSync(part, path);
      // The next answer gets a reserve too, from the space that this one left.
      makeReserve(reserve);
    },
    list: () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((file) => file.endsWith(ENDING))
        .map((file) => {
          try {
            return {
              name: decodeURIComponent(file.slice(0, -ENDING.length)),
              text: readFileSync(join(folder, file), 'utf8'),
            };
          } catch {
            // Counts as one that can't be opened, and hides none of the others.
            return { name: file, text: '' };
          }
        }),
    remove: (name: string): void => {
      rmSync(pathOf(name), { force: true });
      makeReserve(reserve);
    },
  };
}

/**
 * A full disk doesn't keep the app from starting: this is tried again after each answer, and a partial reserve is better than none.
 * It is written under another name first, since another process may take the reserve at any time.
 */
function makeReserve(reserve: string): void {
  if (sizeOf(reserve) >= RESERVE_BYTES) return;
  const part = `${reserve}.${process.pid}`;
  try {
    mkdirSync(dirname(reserve), { recursive: true, mode: 0o700 });
    rmSync(part, { force: true });
    writeFileSync(part, Buffer.alloc(RESERVE_BYTES, 1), { flag: 'wx', mode: 0o600, flush: true });
  } catch {}
  try {
    if (sizeOf(part) > sizeOf(reserve)) renameSync(part, reserve);
    else rmSync(part, { force: true });
  } catch {}
}

/** Returns the size of a file; 0 if there is none, or no folder for it. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function overwrite(path: string, text: string): void {
  const file = existsSync(path) ? openSync(path, 'r+') : openSync(path, 'wx', 0o600);
  try {
    const bytes = Buffer.from(text);
    // A full disk writes a part and reports how much; the next write fails.
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    ftruncateSync(file, bytes.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Opens a file's answer; undefined if its key is missing or this app didn't write it. */
function readAnswer(operationId: string, text: string, vault: Vault): SpilledAnswer | undefined {
  try {
    const read = storedAnswer.parse(JSON.parse(vault.open(text, placeOfSpilled(operationId))));
    const password = read.password === undefined ? undefined : new Secret(read.password);
    return { operationId, ...read, password };
  } catch {
    return undefined;
  }
}

function placeOfSpilled(operationId: string): SealedPlace {
  return { table: 'spill', row: operationId, column: 'answer', workspaceId: '' };
}
