import type { Grant, Grantee, HeldRole } from '../../domain/access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { Role } from '../../domain/actor.ts';
import { EVERY_SERVER } from '../../domain/label-pattern.ts';
import { codeLabel, escapeText, mention, plainLabel, shorten, slackDate, utcDate } from '../kit/text.ts';

/** Mentions a user, a user group or a channel by id; an ephemeral message notifies none of them. */
export function describeGrantee({ subjectKind, subjectId }: Grantee): string {
  if (subjectKind === 'group') return `<!subteam^${subjectId}>`;
  return subjectKind === 'channel' ? `<#${subjectId}>` : mention(subjectId);
}

/** "*operator* for `web-*`, until 14:00". */
export function describeRole({
  role,
  pattern,
  until,
}: {
  readonly role: Role;
  readonly pattern: string;
  readonly until?: number | undefined;
}): string {
  const servers = pattern === EVERY_SERVER ? '' : ` for ${codeLabel(pattern, 60)}`;
  return `*${role}*${servers}${until === undefined ? '' : `, until ${slackDate(until)}`}`;
}

/** The same for a dialog, which shows no formatting. */
export function plainRole({ role, pattern, until }: Parameters<typeof describeRole>[0]): string {
  const servers = pattern === EVERY_SERVER ? '' : ` for ${plainLabel(pattern, 60)}`;
  return `${role}${servers}${until === undefined ? '' : `, until ${utcDate(until)}`}`;
}

/** One grant: who has which role, and who granted it. */
export function describeGrant(grant: Grant): string {
  const members = grant.subjectKind === 'channel' ? 'Full members acting in ' : '';
  return `${members}${describeGrantee(grant)} ${describeRole(grant)}\nGiven by ${mention(grant.grantedBy)}, ${slackDate(grant.grantedAt)}`;
}

/** A role that a user holds, and why. */
export function describeHeldRole({ role, pattern, source }: HeldRole): string {
  if (source === 'named') return `*${role}*: named in \`OWNERS\``;
  if (source === 'admin') return `*${role}*: an admin of this Slack workspace`;
  const through = source.subjectKind === 'user' ? '' : ` through ${describeGrantee(source)}`;
  return `${describeRole({ role, pattern, until: source.until })}${through}: given by ${mention(source.grantedBy)}`;
}

/** "@ann asks for the role *operator*", with the reason below. */
export function describeRequest(request: AccessRequest): string {
  const reason = escapeText(shorten(request.reason, 300)).replaceAll('\n', '\n> ');
  return `${mention(request.requesterId)} asks for the role ${describeRole({ role: request.role, pattern: request.pattern })}.\n> ${reason}`;
}
