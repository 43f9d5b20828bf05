import type { Services } from '../../app/services.ts';
import type { SlackApi } from './slack-api.ts';

/** The token is refused for good: waiting does not help. */
const HOPELESS = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'];
const RETRY_MS = 5000;

/** Asks Slack which workspace the bot token is for; until that is known, nobody belongs here and nothing is done. */
export function introduce(slack: SlackApi, services: Services, signal: AbortSignal) {
  let fault: string | undefined = 'Slack has not been asked yet which workspace this is';
  const attempt = async (): Promise<void> => {
    const answer = await slack.whoAmI();
    if (answer.ok && answer.workspaceId !== '') {
      const workspace = { id: answer.workspaceId, name: answer.workspaceName };
      await services.store.workspaces.put(workspace, services.system.now());
      services.log.info('connected to Slack', { workspace: answer.workspaceId });
      fault = undefined;
      return;
    }
    const reason = answer.ok ? 'no_team' : answer.error;
    fault = HOPELESS.includes(reason)
      ? `Slack does not accept SLACK_BOT_TOKEN (${reason})`
      : `Slack can’t be reached (${reason})`;
    services.log.error(fault);
  };
  const keepTrying = async (): Promise<void> => {
    while (fault !== undefined && !signal.aborted) {
      await services.system.sleep(RETRY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await attempt();
    }
  };
  const firstTry = attempt();
  void firstTry.then(keepTrying);
  return { firstTry, faults: () => (fault === undefined ? [] : [fault]) };
}
