import type { DueServer } from '../../domain/digest.ts';
import { isExpected } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { isDeleted } from '../../domain/server.ts';
import { withDigestLock } from './digest-lock.ts';
import { describeDigest } from './find-standings.ts';
import type { LaterSights, LiveDigest, ReminderPorts } from './ports.ts';
import { readAccount, type SeenAccount } from './seen-account.ts';
import { hashShown } from './shown-hash.ts';

/**
 * Edits the digest in Slack if something in it has changed since. `readsList` also asks the API once, so that renewals outside
 * of this app are noticed. What can't be edited now is tried again, since it stays out of date.
 */
export async function refreshDigest(
  workspaceId: WorkspaceId,
  ports: ReminderPorts,
  { readsList = false } = {},
): Promise<{ readonly isCurrent: boolean }> {
  const isCurrent = await withDigestLock(workspaceId, ports, async () => {
    const live = await ports.digests.findLive(workspaceId);
    if (!live || !(await ports.installations.isServed(workspaceId))) return false;
    // Read before everything else: what is audited later is looked at again.
    const seenSeq = await ports.digests.findSeq(workspaceId);
    const sights = readsList ? await lookAgain(live, ports) : live.sights;
    const digest = await describeDigest({ ...live, sights }, ports);
    const shown = hashShown(digest);
    const edited =
      shown === live.shown ? 'shown' : await ports.reminderNotifier.update(workspaceId, live.card, digest);
    if (edited === 'gone') {
      await ports.digests.close(workspaceId, live.day);
      return true;
    }
    const isShown = edited === 'shown';
    const now = isShown ? { seenSeq, shown } : {};
    await ports.digests.update({ ...live, sights, ...now }, readsList ? ports.system.now() : undefined);
    return isShown;
  });
  return { isCurrent: isCurrent ?? false };
}

/** What was seen stays as it was if the list can't be read, or belongs to another account since. */
async function lookAgain(live: LiveDigest, ports: ReminderPorts): Promise<LaterSights> {
  const { workspaceId } = live;
  const seen = await readAccount(workspaceId, ports).catch((error: unknown) => {
    if (!isExpected(error)) throw error;
    return undefined;
  });
  const before = await ports.digests.findSnapshot(workspaceId);
  if (!seen || before?.account !== seen.account) return live.sights;
  const sights = live.content.due.flatMap((server) => {
    const sight = sightOf(server, seen) ?? live.sights[server.serverId];
    return sight ? [[String(server.serverId), sight] as const] : [];
  });
  return Object.fromEntries(sights);
}

/** That a server is gone is concluded only from a complete list; undefined where the list says nothing of it. */
function sightOf({ serverId, paidUntil }: DueServer, { list }: SeenAccount): LaterSights[number] | undefined {
  const server = list.servers.find(({ id }) => id === serverId);
  if (!server) return list.extent === 'whole' ? { isGone: true } : undefined;
  if (isDeleted(server)) return { isGone: true };
  return omitUndefined({ paidUntil: server.paidUntil !== paidUntil ? server.paidUntil : undefined });
}
