import type { Digest } from '../../domain/digest.ts';
import { NO_DRIFT } from '../../domain/digest.ts';
import { localDay } from '../../domain/local-time.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import { describeDigest } from './find-standings.ts';
import { describeDue, listDue } from './list-due.ts';
import { readReminderSettings } from './reminder-settings.ts';

/** Shows the servers that the actor may see and whose paid time ends soon, those without reminders too. */
export const listReminders = defineUseCase({
  name: 'reminders',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: (() => void) | undefined }, context): Promise<Digest> => {
    const { actor, app } = context;
    const { workspaceId } = actor;
    const hosting = await context.hosting();
    const { servers, extent } = await hosting.fetchServers(onWait ? { onWait } : {});
    const settings = await readReminderSettings(context);
    const postedAt = app.system.now();
    const day = localDay(postedAt, settings.zone);
    const due = listDue(servers, day, postedAt, settings, [])
      .map(({ server }) => server)
      .filter(({ label }) => context.covers(label));
    const generation = (await app.apiKeys.find(workspaceId))?.generation ?? 0;
    const content = {
      due: await describeDue(due, day, settings, generation, workspaceId, app),
      expired: [],
      drift: NO_DRIFT,
      snoozed: 0,
      left: 0,
      isComplete: extent !== 'part',
    };
    return describeDigest({ workspaceId, day, content, postedAt }, app);
  },
});
