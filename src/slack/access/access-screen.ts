import type { KnownBlock } from '@slack/types';
import type { AccessList } from '../../app/access/change-access.ts';
import type { HeldRoles } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { UserId } from '../../domain/ids.ts';
import { actions, context, divider, header, type Message, section, textMessage } from '../kit/blocks.ts';
import { pageButtons } from '../kit/pagination.ts';
import { count, mention } from '../kit/text.ts';
import { answerRows } from './access-request-card.ts';
import { listRows, rowBlocks } from './access-rows.ts';
import { describeHeldRole, describeRequest } from './access-words.ts';
import { accessPages, grantButton } from './buttons.ts';

const ROWS_PER_PAGE = 12;
/** This many fit into one section, even with the longest patterns. */
const MOST_ROLES = 12;
/** The oldest ones are shown; the others are only counted. */
const MOST_REQUESTS = 5;

/** Lists who has which role and how, and the open requests, with the buttons that change them. */
export function accessScreen({ requests, ...list }: AccessList, page: number): Message {
  const rows = listRows(list);
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_PAGE));
  const shown = Math.min(page, pages - 1);
  const from = shown * ROWS_PER_PAGE;
  const here = rows.slice(from, from + ROWS_PER_PAGE);
  const pagination = pageButtons(accessPages, shown, pages, (wanted) => ({ page: wanted }));
  const place = pages > 1 ? ` Showing ${from + 1}–${from + here.length} of ${rows.length}.` : '';
  return {
    text: `Roles: ${rows.length} in this workspace, ${count(requests.length, 'open request')}`,
    blocks: [
      header('Roles'),
      ...requestBlocks(requests),
      ...(rows.length === 0 ? [section('No roles have been granted yet.')] : rowBlocks(here, shown)),
      actions(grantButton.element('Grant a role…', {}, { style: 'primary' }), ...pagination),
      context(
        `The highest role applies.${place} ${describeAdmins(list)} To check one user: \`/vps access @user\`.`,
      ),
    ],
  };
}

function requestBlocks(requests: readonly AccessRequest[]): KnownBlock[] {
  if (requests.length === 0) return [];
  const shown = requests.slice(0, MOST_REQUESTS);
  const rest = requests.length - shown.length;
  return [
    ...shown.flatMap((request) => [section(describeRequest(request)), ...answerRows(request.id)]),
    ...(rest > 0 ? [context(`${count(rest, 'more open request')}, shown once these are answered.`)] : []),
    divider(),
  ];
}

function describeAdmins({ admins }: Pick<AccessList, 'admins'>): string {
  if (!admins) {
    return 'Slack admins aren’t listed: the app lacks the scope `users:read`, or Slack didn’t answer in time.';
  }
  if (!admins.isComplete) return 'Workspace admins are owners, too. Slack didn’t list all of them.';
  return 'Workspace admins are owners, too.';
}

/** Which roles one user holds here, and how. */
export function rolesMessage(userId: UserId, roles: HeldRoles): Message {
  if (roles.length === 0) return textMessage(`${mention(userId)} doesn’t have a role in this channel.`);
  const lines = roles.slice(0, MOST_ROLES).map((held) => `• ${describeHeldRole(held)}`);
  const more = roles.length > lines.length ? `\nand ${roles.length - lines.length} more` : '';
  return textMessage(
    `Roles of ${mention(userId)} in this channel:\n${lines.join('\n')}${more}`,
    context('The highest role applies.'),
  );
}
