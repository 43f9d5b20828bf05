import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { z } from 'zod';
import { type HostingSnapshot, snapshotSchema } from './hosting/snapshot.ts';
import { type SlackSnapshot, slackSnapshotSchema } from './slack/messages.ts';
import { type TourDone, tourSchema } from './tour.ts';

/** The checks of a start are done: the ports are free, and the stored state can be read. */
export interface Prepared {
  readonly folder: Folder | undefined;
  readonly stored: StoredState;
}

/**
 * Checks the three ports and opens the folder. This module loads fast, so that a refusal is shown immediately.
 * @throws Error with `code: 'EADDRINUSE'` and the port, FolderRefusal
 */
export async function prepare(options: {
  readonly port: number;
  readonly folder?: string | undefined;
}): Promise<Prepared> {
  for (const port of [options.port, options.port + 1, options.port + 2]) await checkPort(port);
  const folder = options.folder === undefined ? undefined : openFolder(options.folder);
  try {
    return { folder, stored: await readStored(folder) };
  } catch (error) {
    folder?.close();
    throw error;
  }
}

async function checkPort(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

const text = z.string().min(1);

const secretsSchema = z.strictObject({
  version: z.literal(1),
  signingSecret: text,
  botToken: text,
  /** As in `ENCRYPTION_KEYS`: without it the app's sealed rows don't open. */
  encryptionKeys: text,
});

type Secrets = z.output<typeof secretsSchema>;

/** What an earlier sandbox stored, or what a new one begins with. */
export interface StoredState {
  readonly isNew: boolean;
  readonly secrets: Secrets;
  readonly hosting: HostingSnapshot | undefined;
  readonly tour: TourDone | undefined;
  readonly slack: SlackSnapshot | undefined;
}

/** Reads the whole stored state before anything is written; without a folder everything is new. @throws FolderRefusal */
async function readStored(folder: Folder | undefined): Promise<StoredState> {
  const secrets = folder?.read('sandbox.json', secretsSchema);
  const hosting = folder?.read('hosting.json', snapshotSchema);
  const tour = folder?.read('tour.json', tourSchema);
  const slack = folder?.read('slack.json', slackSnapshotSchema);
  const rest = { hosting, tour, slack };
  if (secrets) return { isNew: false, secrets, ...rest };
  const made = makeSecrets();
  if (folder) await writeWhole(folder.pathOf('sandbox.json'), `${JSON.stringify(made)}\n`);
  return { isNew: true, secrets: made, ...rest };
}

/** Saves a state in a file of the folder; call the returned function whenever it has changed. No folder: no effect. */
export function saveIn(
  folder: Folder | undefined,
  name: string,
  describe: () => unknown,
  onClose: (end: () => Promise<void>) => unknown,
): () => void {
  if (!folder) return () => undefined;
  const file = new StateFile(folder.pathOf(name), describe);
  file.touch();
  onClose(() => file.flush());
  return () => file.touch();
}

function makeSecrets(): Secrets {
  return {
    version: 1,
    signingSecret: randomBytes(16).toString('hex'),
    botToken: `xoxb-${randomBytes(16).toString('hex')}`,
    encryptionKeys: `sandbox:${randomBytes(32).toString('base64')}`,
  };
}

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
  prepareFolder(folder);
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
function prepareFolder(folder: string): void {
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

const DELAY_MS = 200;

/** Writes a private file completely or not at all: a reader finds either the old text or the new. */
async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
    // Before the rename, or a power cut could leave an empty file under the right name.
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** An API key that is pasted into the chat is shown there, but never written to the disk. */
function maskKeys(_field: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/hk_[\w-]{16,}/g, 'hk_[masked]') : value;
}

/** A JSON file of a state that changes often: it is written 200 ms after a change at the latest. */
export class StateFile {
  readonly #path: string;
  readonly #describe: () => unknown;
  #timer: NodeJS.Timeout | undefined;
  #isOutdated = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, describe: () => unknown) {
    this.#path = path;
    this.#describe = describe;
  }

  /** Marks the file as outdated. */
  touch(): void {
    this.#isOutdated = true;
    this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS).unref();
  }

  /** Writes what has changed and resolves when it is on the disk. Never throws: a full disk must not stop a sandbox. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (!this.#isOutdated) return;
    this.#isOutdated = false;
    try {
      await writeWhole(this.#path, `${JSON.stringify(this.#describe(), maskKeys)}\n`);
    } catch (error) {
      this.#isOutdated = true;
      const reason = error instanceof Error ? error.message : 'unknown';
      process.stderr.write(`${this.#path} can't be written: ${reason}.\n`);
    }
  }
}
