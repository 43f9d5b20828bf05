import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EVERY_WORKSPACE } from '../app/account/every-workspace.ts';
import { listAuditedWorkspaces } from '../app/account/list-workspaces.ts';
import type { AuditFilter, AuditHead, AuditVerdict } from '../app/account/ports.ts';
import { pruneAudit } from '../app/account/prune-audit.ts';
import { exportAudit, verifyAudit } from '../app/account/read-audit.ts';
import type { WorkspaceId } from '../domain/ids.ts';
import type { AuditFormat } from './audit-formats.ts';
import type { ProgramApp } from './open-app.ts';
import { print } from './program.ts';

type Filter = Pick<AuditFilter, 'since' | 'until' | 'actorId' | 'server'>;

/** Writes the entries of the workspaces to standard output; of all, if none is named. */
export async function exportEntries(
  app: ProgramApp,
  named: readonly WorkspaceId[],
  format: AuditFormat,
  filter: Filter,
): Promise<boolean> {
  const lines = exportLines(app, await listWanted(app, named), format, filter);
  try {
    await pipeline(Readable.from(lines), process.stdout, { end: false });
  } catch (error) {
    // The reader of the output may close the pipe (`| head`).
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
  return true;
}

async function* exportLines(
  app: ProgramApp,
  workspaceIds: readonly WorkspaceId[],
  format: AuditFormat,
  filter: Filter,
): AsyncGenerator<string> {
  if (format.head !== '') yield format.head;
  for (const workspaceId of workspaceIds) {
    for await (const entry of await app.execute(exportAudit, filter, workspaceId)) yield format.write(entry);
  }
}

/**
 * Prints for each workspace whether its audit is unaltered, and goes on from a head that was logged earlier. False if one
 * is not.
 */
export async function verify(
  app: ProgramApp,
  named: readonly WorkspaceId[],
  published: AuditHead | undefined,
): Promise<boolean> {
  const workspaceIds = await listWanted(app, named);
  if (workspaceIds.length === 0) print('The audit has no entries yet.');
  let isGood = true;
  for (const workspaceId of workspaceIds) {
    const { words, isWhole } = describeVerdict(await app.execute(verifyAudit, { published }, workspaceId));
    print(`${workspaceId}: ${words}`);
    isGood &&= isWhole;
  }
  return isGood;
}

function describeVerdict(verdict: AuditVerdict): { readonly isWhole: boolean; readonly words: string } {
  if (!verdict.ok) return { isWhole: false, words: verdict.words };
  const { entries, from, to, pruned } = verdict;
  // Pruning leaves entries of its own, so a workspace that was ever audited has some.
  if (entries === 0) return { isWhole: false, words: 'there are no entries, and none were ever recorded.' };
  const older = pruned
    ? ` ${pruned.count} older entries were pruned, most recently on ${new Date(pruned.at).toISOString().slice(0, 10)}.`
    : '';
  return {
    isWhole: true,
    words: `${countEntries(entries)} verified (${from} to ${to}), none altered.${older}`,
  };
}

/** Removes entries from before that time (epoch milliseconds) in every workspace. False where it stopped at a fault. */
export async function prune(app: ProgramApp, before: number): Promise<boolean> {
  const outcomes = await app.execute(pruneAudit, { before }, EVERY_WORKSPACE);
  if (outcomes.length === 0) print('The audit has no entries yet.');
  for (const { workspaceId, removed, fault } of outcomes) {
    const stopped = fault
      ? ` Then pruning stopped: ${fault.words} That entry and all later ones are kept as evidence.`
      : '';
    print(`${workspaceId}: ${countEntries(removed)} removed.${stopped}`);
  }
  return outcomes.every(({ fault }) => fault === undefined);
}

function countEntries(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

async function listWanted(app: ProgramApp, named: readonly WorkspaceId[]): Promise<readonly WorkspaceId[]> {
  return named.length > 0 ? named : app.execute(listAuditedWorkspaces, {}, EVERY_WORKSPACE);
}
