import { DEFAULT_DIGEST } from '../../domain/digest-settings.ts';
import { findZone } from '../../domain/local-time.ts';
import type { ReminderSettings } from '../../domain/reminder.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';

/** When reminders are due: as owners have set it for the digest, or as the form proposes it. */
export async function readReminderSettings(
  context: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<ReminderSettings> {
  return (await getWorkspace(context)).settings.digest ?? DEFAULT_DIGEST;
}

/** The owner's own time zone, as Slack has it, to begin with; undefined where the app may not ask Slack. */
export const findOwnZone = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<string | undefined> => {
    const user = await app.users.find(actor.workspaceId, actor.userId);
    return user?.timeZone === undefined ? undefined : findZone(user.timeZone);
  },
});
