import { describeDaysBefore } from '../../domain/digest-settings.ts';
import { describeMoney, type Money } from '../../domain/money.ts';
import { listChanges, type SettingName, type WorkspaceSettings } from '../../domain/settings.ts';
import { count, escapeText } from '../kit/text.ts';

/** What a setting is called wherever it is named. */
export const SETTING_LABELS: Readonly<Record<SettingName, string>> = {
  freeze: 'Purchase freeze',
  announces: 'Announcements',
  'approval.delete': 'Approval for deletions',
  'approval.renew': 'Approval for renewals',
  'approval.createAbove': 'Approval for new servers above',
  'budget.workspace': 'Monthly workspace budget',
  'budget.person': 'Monthly budget per person',
  channel: 'Approvals channel',
  currency: 'Currency',
  'digest.channel': 'Daily digest channel',
  'digest.hour': 'Hour of the daily digest',
  'digest.zone': 'Time zone of the daily digest',
  'digest.days': 'Days before the paid time ends',
};

/** What was saved: each setting that has changed, as it is in force now. */
export function savedWords(was: WorkspaceSettings, is: WorkspaceSettings, currency: string): string {
  const changes = listChanges(was, is)
    // That there is no digest says it all.
    .filter(({ name }) => is.digest !== undefined || !name.startsWith('digest.') || name === 'digest.channel')
    .map(({ name }) => `• ${IN_FORCE[name](is, currency)}`);
  return changes.length === 0 ? 'Nothing was changed.' : ['*Settings saved:*', ...changes].join('\n');
}

const IN_FORCE: Readonly<Record<SettingName, (is: WorkspaceSettings, currency: string) => string>> = {
  freeze: ({ freeze }) =>
    freeze
      ? 'Purchases are frozen: nothing can be bought or renewed'
      : 'The purchase freeze is lifted: servers can be bought and renewed',
  announces: ({ announces }) =>
    announces ? 'Changes are announced in the channel' : 'Changes aren’t announced in channels',
  'approval.delete': ({ approval }) =>
    approval.delete ? 'Deletions need approval' : 'Deletions don’t need approval',
  'approval.renew': ({ approval }) =>
    approval.renew ? 'Renewals need approval' : 'Renewals don’t need approval',
  'approval.createAbove': ({ approval: { createAbove } }, currency) =>
    createAbove === undefined
      ? 'New servers don’t need approval'
      : createAbove === 0
        ? 'Every new server that isn’t free needs approval'
        : `New servers that cost more than ${inMoney(createAbove, currency)} per month need approval`,
  'budget.workspace': ({ budget }, currency) =>
    budget.workspace === undefined
      ? 'The workspace has no monthly budget'
      : `The workspace may spend ${inMoney(budget.workspace, currency)} per month`,
  'budget.person': ({ budget }, currency) =>
    budget.person === undefined
      ? 'People have no monthly budget of their own'
      : `Each person may spend ${inMoney(budget.person, currency)} per month`,
  channel: ({ channelId }) =>
    channelId === undefined
      ? 'Approval requests are sent as direct messages'
      : `Approval requests are posted in <#${channelId}>`,
  currency: (is) =>
    is.currency === undefined
      ? 'Amounts are shown in the app’s default currency'
      : `Amounts are shown in ${escapeText(is.currency)}`,
  'digest.channel': ({ digest }) =>
    digest ? `The daily digest is posted in <#${digest.channelId}>` : 'There’s no daily digest',
  'digest.hour': ({ digest }) =>
    digest
      ? `The digest is posted between ${digest.hour}:00 and ${digest.hour}:15`
      : 'No hour is set for a digest',
  'digest.zone': ({ digest }) =>
    digest
      ? `The digest follows the clocks of ${escapeText(digest.zone)}`
      : 'No time zone is set for a digest',
  'digest.days': ({ digest }) =>
    digest
      ? `Servers are listed from ${count(digest.daysBefore[0] ?? 0, 'day')} before their paid time ends (steps: ${describeDaysBefore(digest.daysBefore)})`
      : 'No days are set for a digest',
};

function inMoney(most: Money, currency: string): string {
  return escapeText(describeMoney(most, currency));
}
