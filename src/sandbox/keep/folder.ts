import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { z } from 'zod';

/** A folder, or a file in it, that cannot be used; the message is a sentence for the user. */
class FolderRefusal extends Error {
  override readonly name = 'FolderRefusal';
}

/** The folder with the state that outlives the process: readable by its owner only, used by one process at a time. */
export interface Folder {
  pathOf(name: string): string;
  /**
   * Reads a JSON file; undefined when there is none yet.
   * @throws FolderRefusal naming the file when it is damaged; it stays as it is
   */
  read<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> | undefined;
  /** Lets the next process in. */
  close(): void;
}

const LOCK = 'sandbox.lock';
/** How long a start waits for an earlier process to end. */
const LOCK_TIMEOUT_MS = 500;
const SQLITE_BUSY = 5;

/** Opens the folder, or makes it. @throws FolderRefusal */
export function openFolder(path: string): Folder {
  const folder = resolve(path);
  prepare(folder);
  const lock = takeLock(folder);
  return {
    pathOf: (name) => join(folder, name),
    read: (name, schema) => readJsonFile(join(folder, name), schema),
    close: () => {
      if (lock.isOpen) lock.close();
    },
  };
}

/** Refuses a folder with other files, and leaves its permissions alone. */
function prepare(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder);
    if (names.length > 0 && !names.includes(LOCK))
      throw new FolderRefusal(`${folder} contains other files. Choose a new or an empty folder with --data.`);
    chmodSync(folder, 0o700);
    if (!names.includes(LOCK)) closeSync(openSync(join(folder, LOCK), 'wx', 0o600));
  } catch (error) {
    if (error instanceof FolderRefusal) throw error;
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOTDIR'))
      throw new FolderRefusal(`${folder} is not a folder.`);
    throw new FolderRefusal(`The folder ${folder} can't be used: ${wordsOf(error)}.`);
  }
}

/** The operating system frees the lock when the process ends, however it ends. */
function takeLock(folder: string): InstanceType<typeof DatabaseSync> {
  let lock: InstanceType<typeof DatabaseSync> | undefined;
  try {
    lock = new DatabaseSync(join(folder, LOCK), { timeout: LOCK_TIMEOUT_MS });
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)
      throw new FolderRefusal(`Another sandbox is using ${folder}. Stop it, or choose another folder.`);
    throw new FolderRefusal(`The lock file of ${folder} can't be used: ${wordsOf(error)}.`);
  }
}

function readJsonFile<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new FolderRefusal(`${file} can't be read: ${wordsOf(error)}.`);
  }
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const place = parsed.error.issues[0]?.path.join('.');
  throw new FolderRefusal(
    `${file} is damaged${place ? ` (at ${place})` : ''} and was left as it is. Move the folder away to start over.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
