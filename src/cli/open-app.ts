import { createEntry } from '../app/authorize/entry.ts';
import type { UseCase } from '../app/authorize/use-case.ts';
import type { FindHosting } from '../app/hosting-api.ts';
import type { AppContext, Store } from '../app/ports.ts';
import type { AuditConfig, KeyConfig } from '../config.ts';
import { THE_COMMAND_LINE } from '../domain/actor.ts';
import type { UserId, WorkspaceId } from '../domain/ids.ts';
import { PART_OF_LIST } from '../domain/part-of-list.ts';
import { silentLog } from '../log.ts';
import { openStore } from '../store/open-store.ts';
import { realSystem } from '../system.ts';
import { createVault, parseKeyring } from '../vault.ts';

/** What programs can do: run use cases as the command line. */
export interface ProgramApp {
  /** `workspaceId`: the workspace to act in, or `EVERY_WORKSPACE`. @throws what the entry and the use case throw */
  execute<Input, Output>(
    useCase: UseCase<Input, Output>,
    input: Input,
    workspaceId: WorkspaceId,
  ): Promise<Output>;
}

/**
 * Runs the work with the app's parts but without Slack. The app itself may be running at the same time.
 * @throws VaultError, DatabaseUnusable: each with a sentence for the operator
 */
export async function withApp(
  config: AuditConfig | KeyConfig,
  work: (app: ProgramApp) => Promise<void>,
  userId = THE_COMMAND_LINE,
): Promise<void> {
  const vault = createVault(parseKeyring(config.ENCRYPTION_KEYS.reveal()));
  const store = await openStore({ databaseUrl: config.DATABASE_URL, vault, system: realSystem, lock: false });
  const hosting = await openHosting(config, store);
  const parts: Partial<AppContext> = { ...store, ...WITHOUT_SLACK, hostingOf: hosting.of };
  try {
    // Programs run few use cases, and those need no other part of the app.
    await work(createProgramApp(parts as AppContext, userId));
  } finally {
    await hosting.close().finally(() => store.close());
  }
}

function createProgramApp(app: AppContext, userId: UserId): ProgramApp {
  const entry = createEntry(app);
  let isSaid = false;
  const onPartOfList = () => {
    if (!isSaid) process.stderr.write(`${PART_OF_LIST}\n`);
    isSaid = true;
  };
  return {
    execute: (useCase, input, workspaceId) =>
      entry.execute(useCase, input, {
        actor: { workspaceId, userId },
        surface: 'cli',
        onPartOfList,
      }),
  };
}

/** Stand-ins for Slack and `OWNERS`: the entry doesn't ask them about the command line. */
const WITHOUT_SLACK: Partial<AppContext> = {
  installations: { isServed: async () => undefined },
  system: realSystem,
  log: silentLog,
  users: { find: async () => undefined, exists: async () => 'unknown' },
  groups: { list: async () => undefined, listMembers: async () => undefined },
  ownersOf: () => [],
  connectNotifier: { notifyConnected: async () => undefined },
  accountNotifier: { notifyKeyChange: async () => undefined },
};

interface ProgramHosting {
  readonly of: FindHosting;
  close(): Promise<void>;
}

async function openHosting(
  config: AuditConfig | KeyConfig,
  { accounts, apiCalls }: Store,
): Promise<ProgramHosting> {
  if ('HOSTING_BASE_URL' in config) {
    const { HOSTING_BASE_URL: baseUrl, HOSTING_TIMEOUT_MS: timeoutMs } = config;
    // Loaded only where it is needed: programs should start at once.
    const { createHosting } = await import('../hosting/client.ts');
    return createHosting({ baseUrl, timeoutMs, system: realSystem, calls: apiCalls, accounts });
  }
  const refuse = () => {
    throw new Error('this program was started without the settings of the hosting API');
  };
  return { of: refuse, close: async () => {} };
}
