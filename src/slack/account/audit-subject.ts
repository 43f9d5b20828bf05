import { ROLES } from '../../domain/actor.ts';
import type { StoredEntry } from '../../domain/audit-entry.ts';
import { codeLabel, mention } from '../kit/text.ts';
import { describeSettingChanges } from './audit-settings.ts';

type Subject = Pick<StoredEntry, 'action' | 'label' | 'serverId'>;

/** What something was done to, in escaped mrkdwn: a server, a role, the settings. */
export function describeSubject(entry: Subject): string {
  const { action, label = '' } = entry;
  switch (action) {
    case 'access_grant':
      return grantWords(label, ({ who, role }) => `${who} the ${role}`) ?? codeOf(entry, 'a role');
    case 'access_revoke':
      return revokedWords(label) ?? codeOf(entry, 'a role');
    case 'access_ask':
      return grantWords(label, ({ role }) => `the ${role}`) ?? codeOf(entry, 'a role');
    case 'access_answer':
      return (
        grantWords(label, ({ who, role }) => `${who}’s request for the ${role}`) ?? codeOf(entry, 'a request')
      );
    case 'access_ended':
      return (
        grantWords(label, ({ who, role }) => `the temporary ${role} of ${who}`) ?? codeOf(entry, 'a role')
      );
    case 'workflow_key_issue':
    case 'workflow_key_revoke':
      return codeOf(entry, '');
    case 'approval_answer':
      return `the approval request for ${codeOf(entry, 'a server')}`;
    case 'settings_change':
      return describeSettingChanges(label) ?? codeOf(entry, 'the settings');
    default:
      return codeOf(entry, 'a server');
  }
}

function codeOf({ label, serverId }: Subject, nothing: string): string {
  if (label !== undefined && label !== '') return codeLabel(label, MOST_CHARACTERS);
  return serverId === undefined ? nothing : `server ${serverId}`;
}

/** More than any label that the hosting service takes. */
const MOST_CHARACTERS = 300;

interface GrantWords {
  readonly who: string;
  /** "*operator* role for `web-*`, for 8 hours". */
  readonly role: string;
}

/** Reads "hour operator web-* U012AB3CD for 480 min": all but the role may be missing. */
function grantWords(label: string, say: (words: GrantWords) => string): string | undefined {
  const [, answer = '', first = '', rest = ''] =
    /^(?:(hour|workday|permanent|deny) )?(\S+)(?: (.*))?$/s.exec(label) ?? [];
  const role = ROLES.find((each) => each === first);
  if (role === undefined) return undefined;
  const [, pattern = '', subjectId, minutes] =
    /^(.*?) ?(?:\b([UWCGS][A-Z0-9]{5,}))?(?: for (\d+) min)?$/s.exec(rest) ?? [];
  const servers = pattern === '' ? '' : ` for ${codeLabel(pattern, MOST_CHARACTERS)}`;
  const time = minutes === undefined ? (TIMES[answer] ?? '') : `, for ${describeMinutes(Number(minutes))}`;
  const who = subjectId === undefined ? 'someone' : describeId(subjectId);
  return say({ who, role: `*${role}* role${servers}${time}` });
}

const TIMES: Readonly<Record<string, string>> = {
  hour: ', for 1 hour',
  workday: ', for 8 hours',
  permanent: ', permanently',
};

/** Several are joined by commas; a subject without roles is named alone. */
function revokedWords(label: string): string | undefined {
  if (/^[UWCGS][A-Z0-9]{5,}$/.test(label)) return `every role of ${describeId(label)}`;
  const all = label.split(', ').map((each) => grantWords(each, ({ who, role }) => `the ${role} of ${who}`));
  return all.includes(undefined) ? undefined : all.join(' and ');
}

function describeMinutes(minutes: number): string {
  const [amount, noun] =
    minutes % 1440 === 0
      ? [minutes / 1440, 'day']
      : minutes % 60 === 0
        ? [minutes / 60, 'hour']
        : [minutes, 'minute'];
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** A user, a user group or a channel of Slack by its ID. */
function describeId(id: string): string {
  if (id.startsWith('S')) return `<!subteam^${id}>`;
  return /^[CG]/.test(id) ? `<#${id}>` : mention(id);
}
