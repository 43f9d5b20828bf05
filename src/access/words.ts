import { EVERY_SERVER } from '../core/labels.ts';
import type { Grantee, HeldRole, Role } from '../core/roles.ts';
import type { RoleRequest } from '../requests/request.ts';
import {
  codeLabel,
  escapeText,
  mention,
  plainLabel,
  shorten,
  slackDate,
  utcDate,
} from '../slack/kit/text.ts';

interface RoleFacts {
  readonly role: Role;
  readonly pattern: string;
  readonly until?: number | undefined;
}

/** Mentions a user, a user group or a channel by ID. Ephemeral messages notify none of them. */
export function describeGrantee({ subjectKind, subjectId }: Grantee): string {
  if (subjectKind === 'group') return `<!subteam^${subjectId}>`;
  return subjectKind === 'channel' ? `<#${subjectId}>` : mention(subjectId);
}

/** "*operators* for `web-*` (20 servers) until 14:00". */
export function describeRoles(facts: RoleFacts, covered = ''): string {
  return `*${facts.role}s*${scopeOf(facts, covered)}`;
}

function scopeOf({ pattern, until }: RoleFacts, covered = ''): string {
  const servers = pattern === EVERY_SERVER ? '' : ` for ${codeLabel(pattern, 60)}`;
  return `${servers}${covered}${until === undefined ? '' : ` until ${slackDate(until)}`}`;
}

/** "an *operator* for `web-*` until 14:00". `covered`: " (20 servers)". */
export function describeNewRole(facts: RoleFacts, covered = ''): string {
  return `${articleOf(facts.role)} *${facts.role}*${scopeOf(facts, covered)}`;
}

export function articleOf(role: Role): 'a' | 'an' {
  return /^[aeiou]/.test(role) ? 'an' : 'a';
}

/** "operator for web-* until …", for dialogs, which show no formatting. */
export function plainRole({ role, pattern, until }: RoleFacts): string {
  const servers = pattern === EVERY_SERVER ? '' : ` for ${plainLabel(pattern, 60)}`;
  return `${role}${servers}${until === undefined ? '' : ` until ${utcDate(until)}`}`;
}

/** A role that a user holds, and why. */
export function describeHeldRole({ role, pattern, source }: HeldRole): string {
  if (source === 'named') return `*${role}*: listed in \`OWNERS\``;
  if (source === 'admin') return `*${role}*: admin of this Slack workspace`;
  const through = source.subjectKind === 'user' ? '' : `through ${describeGrantee(source)}, `;
  const scope = scopeOf({ role, pattern, until: source.until });
  return `*${role}*${scope}: ${through}granted by ${mention(source.grantedBy)}`;
}

/** "@gus (guest) is requesting the *operator* role for `web-1`.", with the reason below. */
export function describeRequest(request: RoleRequest): string {
  return `${mention(request.requesterId)}${request.isGuest ? ' (guest)' : ''} is requesting the ${describeWantedRole(request)}.\n${quote(request.reason)}`;
}

/** "*operator* role for `web-1`". */
export function describeWantedRole({ role, pattern }: RoleFacts): string {
  return `*${role}* role${scopeOf({ role, pattern })}`;
}

export function quote(text: string): string {
  return `> ${escapeText(shorten(text, 300)).replaceAll('\n', '\n> ')}`;
}
