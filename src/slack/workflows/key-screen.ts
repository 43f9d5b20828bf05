import type { KnownBlock } from '@slack/types';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import { isExpired, type WorkflowKey } from '../../domain/workflow-key.ts';
import { actions, confirmation, context, header, type Message, section } from '../kit/blocks.ts';
import { pageButtons } from '../kit/pagination.ts';
import { codeLabel, escapeText, mention, slackDate } from '../kit/text.ts';
import { issueButton, keyPages, revokeKeyButton } from './buttons.ts';

const ROWS_PER_PAGE = 12;

/** Lists the workflow keys, with the buttons that issue and revoke them. */
export function keyScreen(keys: readonly WorkflowKey[], page: number, now: number): Message {
  const pages = Math.max(1, Math.ceil(keys.length / ROWS_PER_PAGE));
  const shown = Math.min(page, pages - 1);
  const from = shown * ROWS_PER_PAGE;
  const here = keys.slice(from, from + ROWS_PER_PAGE);
  const place = pages > 1 ? ` Showing ${from + 1}–${from + here.length} of ${keys.length}.` : '';
  return {
    text: `Workflow keys: ${keys.length} in this workspace`,
    blocks: [
      header('Workflow keys'),
      ...(keys.length === 0 ? [section(NONE)] : here.map((key) => keyRow(key, shown, now))),
      actions(
        issueButton.element('Issue a key…', {}, { style: 'primary' }),
        ...pageButtons(keyPages, shown, pages, (wanted) => ({ page: wanted })),
      ),
      context(`${ABOUT}${place}`),
    ],
  };
}

const NONE =
  'No keys have been issued. Without a key, the step *Power action on a server* asks in a channel, and someone has to press a button.';
const ABOUT =
  'With a key, a workflow starts, stops or reboots servers without asking anyone. Everyone who can edit the workflow can read its key.';

function keyRow(key: WorkflowKey, page: number, now: number): KnownBlock {
  const { id, name } = key;
  return section(
    describeKey(key, now),
    revokeKeyButton.element(
      'Revoke',
      { keyId: id, page },
      {
        label: `Revoke ${name}`,
        confirm: confirmation({
          title: 'Revoke this key?',
          text: `Workflows that use ${name} will fail. Revoking takes effect immediately.`,
          confirm: 'Revoke',
          isDangerous: true,
        }),
      },
    ),
  );
}

function describeKey(key: WorkflowKey, now: number): string {
  const { name, issuedBy, issuedAt, lastUsedAt } = key;
  const used = lastUsedAt === undefined ? 'never used' : `last used ${slackDate(lastUsedAt)}`;
  return `*${escapeText(name)}*: ${describeLimits(key, now)}\nIssued by ${mention(issuedBy)}, ${slackDate(issuedAt)} · ${used}`;
}

/** "reboot, stop on `web-*` until …" */
export function describeLimits(key: Pick<WorkflowKey, 'actions' | 'pattern' | 'until'>, now: number): string {
  const { actions: allowed, pattern, until } = key;
  const servers = pattern === EVERY_SERVER ? 'every server' : codeLabel(pattern, 100);
  const words = `${allowed.join(', ')} on ${servers}`;
  if (until === undefined) return words;
  return isExpired(key, now) ? `${words} · *expired*` : `${words} until ${slackDate(until)}`;
}
