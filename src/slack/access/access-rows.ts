import type { KnownBlock } from '@slack/types';
import type { AccessList } from '../../app/access/change-access.ts';
import type { Grant } from '../../domain/access.ts';
import { ROLES, type Role } from '../../domain/actor.ts';
import type { UserId } from '../../domain/ids.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import { confirmation, section } from '../kit/blocks.ts';
import { codeLabel, mention, slackDate } from '../kit/text.ts';
import { describeGrantee, plainRole } from './access-words.ts';
import { revokeButton } from './buttons.ts';

/** Who has a role, and how: by a grant, or as an owner whom no grant made one. */
type RoleRow =
  | { readonly role: Role; readonly grant: Grant }
  | {
      readonly role: 'owner';
      readonly userId: UserId;
      readonly isNamed: boolean;
      readonly isAdmin: boolean;
    };

/** Everyone who has a role, the highest role first. */
export function listRows({ grants, owners, admins }: Omit<AccessList, 'requests'>): readonly RoleRow[] {
  const adminIds = admins?.userIds ?? [];
  const owning = [...new Set([...owners, ...adminIds])].map((userId) => ({
    role: 'owner' as const,
    userId,
    isNamed: owners.includes(userId),
    isAdmin: adminIds.includes(userId),
  }));
  const granted = ROLES.toReversed().flatMap((role) =>
    grants.filter((grant) => grant.role === role).map((grant) => ({ role, grant })),
  );
  return [...owning, ...granted];
}

const HEADINGS: Readonly<Record<Role, string>> = {
  owner: 'Owners',
  manager: 'Managers',
  operator: 'Operators',
  viewer: 'Viewers',
};

/** The rows of one page, each role under its heading. */
export function rowBlocks(rows: readonly RoleRow[], page: number): KnownBlock[] {
  return rows.flatMap((row, at) => {
    const isFirst = rows[at - 1]?.role !== row.role;
    return [...(isFirst ? [section(`*${HEADINGS[row.role]}*`)] : []), rowBlock(row, page)];
  });
}

function rowBlock(row: RoleRow, page: number): KnownBlock {
  if ('grant' in row) return grantBlock(row.grant, page);
  const ways = [row.isNamed ? 'listed in `OWNERS`' : '', row.isAdmin ? 'Slack admin' : ''].filter(Boolean);
  return section(`${mention(row.userId)}: ${ways.join(', ')}`);
}

function grantBlock(grant: Grant, page: number): KnownBlock {
  return section(
    describeGrant(grant),
    revokeButton.element(
      'Revoke',
      { grantId: grant.id, page },
      {
        label: `Revoke ${grant.role}`,
        confirm: confirmation({
          title: 'Revoke this role?',
          text: `${plainRole(grant)}. Revoking takes effect immediately.`,
          confirm: 'Revoke',
          isDangerous: true,
        }),
      },
    ),
  );
}

const KINDS: Readonly<Record<Grant['subjectKind'], string>> = {
  user: '',
  group: 'Group ',
  channel: 'Full members in ',
};

/** "Group @oncall: `web-*`, until 14:00", and who granted it. */
function describeGrant(grant: Grant): string {
  const { subjectKind, role, pattern, until, grantedBy, grantedAt } = grant;
  const servers = pattern === EVERY_SERVER ? 'all servers' : codeLabel(pattern, 60);
  const time = until === undefined ? '' : `, until ${slackDate(until)}`;
  const who = `${KINDS[subjectKind]}${describeGrantee(grant)}: ${servers}${time}`;
  // The first release granted such roles; they go on counting until an owner revokes them.
  const warning =
    subjectKind === 'channel' && role === 'owner'
      ? '\n:warning: Anyone who joins this channel becomes an owner. Revoke this role.'
      : '';
  return `${who}\nGranted by ${mention(grantedBy)}, ${slackDate(grantedAt)}${warning}`;
}
