import { DEFAULT_DIGEST } from '../../domain/digest-settings.ts';
import { findZone } from '../../domain/local-time.ts';
import type { ReminderSettings } from '../../domain/reminder.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { ReminderPorts } from './ports.ts';

type SettingsPorts = Pick<ReminderPorts, 'workspaces'>;

/** When reminders are due: as owners have set it for the digest, or as the form proposes it. */
export async function readReminderSettings(
  context: Pick<UseCaseContext<SettingsPorts>, 'actor' | 'ports'>,
): Promise<ReminderSettings> {
  return (await getWorkspace(context)).settings.digest ?? DEFAULT_DIGEST;
}

/** The owner's own time zone, as Slack has it, to begin with; undefined where the app may not ask Slack. */
export const findOwnZone = useCasesOver<Pick<ReminderPorts, 'users'>>()({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, ports }): Promise<string | undefined> => {
    const user = await ports.users.find(actor.workspaceId, actor.userId);
    return user?.timeZone === undefined ? undefined : findZone(user.timeZone);
  },
});
