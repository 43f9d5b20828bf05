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
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PaidAnswer, Spill, SpilledAnswer } from '../../app/purchases/ports.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { Secret } from '../../domain/secret.ts';
import type { SealedPlace, Vault } from '../../vault.ts';

/** A full disk takes no new file, but one that has its place can be written over. */
const RESERVE_BYTES = 4096;
const ENDING = '.sealed';

const storedAnswer = z.object({
  serverId: z.number(),
  paidUntil: z.number().optional(),
  password: z.string().optional(),
});

/** Keeps answers in files of a folder, sealed, for their owner only; in memory where there is no folder. */
export function createSpill(folder: string | undefined, vault: Vault): Spill {
  const files = folder === undefined ? keepInMemory() : keepInFolder(folder);
  return {
    write: async (operationId, answer) =>
      files.write(operationId, vault.seal(writeAnswer(answer), placeOf(operationId))),
    readAll: async () => {
      const found = files
        .list()
        .map((operationId) => readAnswer(operationId, files.read(operationId), vault));
      const answers = found.filter((answer) => answer !== undefined);
      return { answers, unreadable: found.length - answers.length };
    },
    remove: async (operationId) => files.remove(operationId),
  };
}

interface Files {
  write(name: string, text: string): void;
  list(): readonly string[];
  read(name: string): string;
  remove(name: string): void;
}

function keepInMemory(): Files {
  const texts = new Map<string, string>();
  return {
    write: (name, text) => void texts.set(name, text),
    list: () => [...texts.keys()],
    read: (name) => texts.get(name) ?? '',
    remove: (name) => void texts.delete(name),
  };
}

function keepInFolder(folder: string): Files {
  const pathOf = (name: string) => join(folder, `${encodeURIComponent(name)}${ENDING}`);
  const reserve = join(folder, 'reserve');
  // A full disk is no reason not to start: it is tried again when the first answer is kept.
  const makeReserve = () => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!existsSync(reserve))
        writeFileSync(reserve, Buffer.alloc(RESERVE_BYTES, 1), { mode: 0o600, flush: true });
    } catch {}
  };
  makeReserve();
  return {
    write: (name, text) => {
      const path = pathOf(name);
      // Under its own name only when it is whole.
      if (existsSync(path)) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Processes of one machine may share the folder: a rename gives the reserve to one of them.
      const part = `${path}.part`;
      renameIfThere(reserve, part);
      overwrite(part, text);
      renameSync(part, path);
    },
    list: () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((file) => file.endsWith(ENDING))
        .map((file) => decodeURIComponent(file.slice(0, -ENDING.length))),
    read: (name) => readFileSync(pathOf(name), 'utf8'),
    remove: (name) => {
      rmSync(pathOf(name), { force: true });
      makeReserve();
    },
  };
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
    ftruncateSync(file, writeSync(file, text, 0));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeAnswer({ serverId, paidUntil, password }: PaidAnswer): string {
  return JSON.stringify({ serverId, paidUntil, password: password?.reveal() });
}

/** Undefined for what does not open: the key is missing, or it wasn't written by this app. */
function readAnswer(operationId: string, text: string, vault: Vault): SpilledAnswer | undefined {
  try {
    const read = storedAnswer.parse(JSON.parse(vault.open(text, placeOf(operationId))));
    const password = read.password === undefined ? undefined : new Secret(read.password);
    return {
      operationId,
      serverId: read.serverId,
      ...omitUndefined({ paidUntil: read.paidUntil, password }),
    };
  } catch {
    return undefined;
  }
}

function placeOf(operationId: string): SealedPlace {
  return { table: 'spill', row: operationId, column: 'answer', workspaceId: '' };
}
