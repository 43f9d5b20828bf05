import type { KnownBlock } from '@slack/types';
import type { AccessList } from '../../app/access/change-access.ts';
import type { Grant, HeldRoles } from '../../domain/access.ts';
import type { UserId } from '../../domain/ids.ts';
import { actions, confirmation, context, header, type Message, section, textMessage } from '../kit/blocks.ts';
import { pageButtons } from '../kit/pagination.ts';
import { count, mention } from '../kit/text.ts';
import { answerButtons } from './access-request-card.ts';
import { describeGrant, describeHeldRole, describeRequest, plainRole } from './access-words.ts';
import { accessPages, grantButton, revokeButton } from './buttons.ts';

const GRANTS_PER_PAGE = 12;
/** This many fit into one section, even with the longest patterns. */
const MOST_ROLES = 12;
/** The oldest ones are shown; the others are only counted. */
const MOST_REQUESTS = 5;

/** Lists the roles and the open requests, with the buttons that change them. */
export function accessScreen({ grants, owners, requests }: AccessList, page: number): Message {
  const pages = Math.max(1, Math.ceil(grants.length / GRANTS_PER_PAGE));
  const shown = Math.min(page, pages - 1);
  const here = grants.slice(shown * GRANTS_PER_PAGE, (shown + 1) * GRANTS_PER_PAGE);
  return {
    text: `Who may do what: ${count(grants.length, 'role')} given, ${count(requests.length, 'request')} to answer`,
    blocks: [
      header('Who may do what'),
      ...requests
        .slice(0, MOST_REQUESTS)
        .flatMap((request) => [section(describeRequest(request)), actions(...answerButtons(request.id))]),
      ...(requests.length > MOST_REQUESTS
        ? [
            context(
              `and ${requests.length - MOST_REQUESTS} more waiting: they follow when these are answered.`,
            ),
          ]
        : []),
      ...(owners.length > 0
        ? [section(`${owners.slice(0, 50).map(mention).join(', ')} *owner*\nNamed in \`OWNERS\``)]
        : []),
      ...here.map((grant) => grantLine(grant, shown)),
      ...(grants.length === 0 ? [section('Nobody has been given a role yet.')] : []),
      buttonsOf(shown, pages),
      context(
        'The strongest role counts. Admins of this Slack workspace are owners too, where the app may ask Slack who they are. `/vps access @somebody` says what one person may do, and why.',
      ),
    ],
  };
}

function grantLine(grant: Grant, page: number): KnownBlock {
  return section(
    describeGrant(grant),
    revokeButton.element(
      'Take away',
      { grantId: grant.id, page },
      {
        label: `Take away ${grant.role}`,
        confirm: confirmation({
          title: 'Take this role away?',
          text: `The role ${plainRole(grant)} is taken away. It counts at once.`,
          confirm: 'Take away',
          isDangerous: true,
        }),
      },
    ),
  );
}

function buttonsOf(page: number, pages: number): KnownBlock {
  const pagination = pageButtons(accessPages, page, pages, (wanted) => ({ page: wanted }));
  return actions(grantButton.element('Give a role…', {}, { style: 'primary' }), ...pagination);
}

/** Which roles one user holds here, and why. */
export function rolesMessage(userId: UserId, roles: HeldRoles): Message {
  if (roles.length === 0) return textMessage(`${mention(userId)} has no role here.`);
  const lines = roles.slice(0, MOST_ROLES).map((held) => `• ${describeHeldRole(held)}`);
  const more = roles.length > lines.length ? `\nand ${roles.length - lines.length} more` : '';
  return textMessage(
    `${mention(userId)}, acting in this channel:\n${lines.join('\n')}${more}`,
    context('The strongest one counts.'),
  );
}
