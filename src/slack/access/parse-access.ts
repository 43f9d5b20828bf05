import type { WantedGrant } from '../../app/access/change-access.ts';
import type { WantedRole } from '../../app/access/request-access.ts';
import type { Grantee } from '../../domain/access.ts';
import { ROLES, type Role } from '../../domain/actor.ts';
import type { UserId } from '../../domain/ids.ts';
import { EVERY_SERVER, findPattern } from '../../domain/label-pattern.ts';
import { findNearest } from '../../domain/nearest.ts';
import { findChannelId, findGroupId, findUserId, type TypedWords } from '../kit/typed-words.ts';

export const ACCESS_USAGE =
  'access [@user | grant @user|@group|#channel <role> [on web-*] [for 8h] | revoke @user|@group|#channel | ask <role> | withdraw]';

/** What `/vps access` is to do. */
export type AccessCommand =
  | { readonly act: 'list' }
  | { readonly act: 'explain'; readonly userId: UserId }
  | { readonly act: 'grant'; readonly wanted: WantedGrant }
  | { readonly act: 'revoke'; readonly grantee: Grantee }
  | { readonly act: 'ask'; readonly wanted: WantedRole }
  | { readonly act: 'withdraw' };

const ACTS = ['list', 'grant', 'revoke', 'ask', 'withdraw'];
const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const LONGEST_MS = 366 * 86_400_000;

/** Reads what was typed after `access`; a string says what is wrong with it. */
export function parseAccess({ words, options }: TypedWords): AccessCommand | string {
  const [act = 'list', ...rest] = words;
  const userId = findUserId(act);
  if (userId !== undefined) return { act: 'explain', userId };
  const clauses = splitClauses(rest, options);
  if (typeof clauses === 'string') return clauses;
  const { plain, on, forTime } = clauses;
  switch (act.toLowerCase()) {
    case 'list':
      return { act: 'list' };
    case 'grant':
      return parseGrant(plain, on, forTime);
    case 'revoke':
      return on === undefined && forTime === undefined ? parseRevoke(plain) : REVOKES_ALL;
    case 'ask':
      return forTime === undefined
        ? parseAsk(plain, on)
        : 'The owners decide for how long: leave out “for”. Use “on web-1” to ask for one server.';
    case 'withdraw':
      return rest.length === 0
        ? { act: 'withdraw' }
        : 'Just type `/vps access withdraw`: it withdraws all of your open requests.';
    default: {
      const nearest = findNearest(act, ACTS);
      return `There’s no “access ${act}” command.${nearest === undefined ? '' : ` Did you mean “access ${nearest}”?`}`;
    }
  }
}

const REVOKES_ALL =
  '`revoke` removes all roles of a user, group or channel. To revoke just one, press Revoke in `/vps access`.';

/** "on web-*" and "for 8h" may appear anywhere, as words or options, once each. */
function splitClauses(words: readonly string[], options: TypedWords['options']) {
  const isClause = (word: string | undefined) => word !== undefined && /^(on|for)$/i.test(word);
  const valuesOf = (clause: 'on' | 'for') => [
    ...words.flatMap((word, at) => (word.toLowerCase() === clause ? [words[at + 1] ?? ''] : [])),
    ...[options[clause]].filter((value) => value !== undefined),
  ];
  const [[on, otherOn], [forTime, otherTime]] = [valuesOf('on'), valuesOf('for')];
  if (otherOn !== undefined || otherTime !== undefined) {
    return `“${otherOn === undefined ? 'for' : 'on'}” appears twice.`;
  }
  return { plain: words.filter((word, at) => !isClause(word) && !isClause(words[at - 1])), on, forTime };
}

function parseGrant(
  [who = '', role = '', tooMuch]: readonly string[],
  on: string | undefined,
  forTime: string | undefined,
): AccessCommand | string {
  const grantee = findGrantee(who);
  if (!grantee) return explainWho(who);
  const wanted = findRole(role);
  if (!wanted) return explainRole(role);
  if (tooMuch !== undefined)
    return `I didn’t understand “${tooMuch}”. Use “on web-*” for servers and “for 8h” for a duration.`;
  const pattern = on === undefined ? EVERY_SERVER : findPattern(on);
  if (pattern === undefined) return 'After “on”, give part of a label, such as web-*.';
  const forMs = forTime === undefined || forTime.toLowerCase() === 'good' ? undefined : findTime(forTime);
  if (forMs === 'wrong') return 'After “for”, give a duration up to a year, such as 30m, 8h, 2d or 1w.';
  return { act: 'grant', wanted: { ...grantee, role: wanted, pattern, forMs } };
}

function parseRevoke([who = '', tooMuch]: readonly string[]): AccessCommand | string {
  const grantee = findGrantee(who);
  if (!grantee) return explainWho(who);
  if (tooMuch === undefined) return { act: 'revoke', grantee };
  return REVOKES_ALL;
}

function parseAsk([role = '', ...rest]: readonly string[], on: string | undefined): AccessCommand | string {
  const wanted = findRole(role);
  if (!wanted) return explainRole(role);
  const label = on ?? (rest.length === 0 ? undefined : rest.join(' '));
  return { act: 'ask', wanted: { role: wanted, label: label || undefined } };
}

function findGrantee(word: string): Grantee | undefined {
  const [user, group, channel] = [findUserId(word), findGroupId(word), findChannelId(word)];
  if (user !== undefined) return { subjectKind: 'user', subjectId: user };
  if (group !== undefined) return { subjectKind: 'group', subjectId: group };
  return channel === undefined ? undefined : { subjectKind: 'channel', subjectId: channel };
}

function findRole(typed: string): Role | undefined {
  return ROLES.find((known) => known === typed.toLowerCase());
}

function findTime(typed: string): number | 'wrong' {
  const [, amount, unit = ''] = /^(\d{1,4})([mhdw])$/.exec(typed.toLowerCase()) ?? [];
  const ms = Number(amount) * (UNIT_MS[unit] ?? 0);
  return ms > 0 && ms <= LONGEST_MS ? ms : 'wrong';
}

function explainRole(typed: string): string {
  const nearest = findNearest(typed, ROLES);
  const wrong = typed === '' ? '' : `There’s no “${typed}” role. `;
  return `${wrong}Choose viewer, operator, manager or owner.${nearest ? ` Did you mean ${nearest}?` : ''}`;
}

function explainWho(typed: string): string {
  if (typed === '') return 'Who? Mention a user or a user group with @, or a channel with #.';
  return `“${typed}” isn’t a user, user group or channel that Slack recognizes. Choose one from the list that Slack shows while you type.`;
}
