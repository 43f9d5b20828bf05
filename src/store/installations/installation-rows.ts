import { z } from 'zod';
import type { BotTokens, Installation, NewInstallation } from '../../domain/installation.ts';
import { Secret } from '../../domain/secret.ts';
import type { SealedPlace, Vault } from '../../vault.ts';
import type { InstallationRow } from '../engine/installation-tables.ts';
import { keepPresent } from '../engine/omit-null.ts';

/** The columns that decide whose the tokens are: an altered row opens nothing. */
type BoundColumns = Pick<
  InstallationRow,
  'id' | 'is_org' | 'enterprise_id' | 'generation' | 'installed_by' | 'installed_at' | 'expires_at'
>;

const sealedTokens = z.object({ bot: z.string(), refresh: z.string().exactOptional() });

/** Undefined for a row whose tokens were erased. @throws Refusal `key_unreadable`, VaultError */
export function toInstallation(row: InstallationRow | undefined, vault: Vault): Installation | undefined {
  if (!row || row.sealed === null) return undefined;
  return {
    id: row.id,
    isOrg: row.is_org === 1,
    ...keepPresent({ enterpriseId: row.enterprise_id }),
    name: row.name,
    generation: row.generation,
    installedBy: row.installed_by,
    installedAt: row.installed_at,
    scopes: row.scopes.split(',').filter((scope) => scope !== ''),
    isRefreshRefused: row.is_refresh_refused === 1,
    isTokenRefused: row.is_token_refused === 1,
    tokens: openTokens(row, row.sealed, vault),
  };
}

function openTokens(row: InstallationRow, sealed: string, vault: Vault): BotTokens {
  const { bot, refresh } = sealedTokens.parse(JSON.parse(vault.open(sealed, placeOfTokens(row))));
  const rotation =
    refresh === undefined ? undefined : { expiresAt: row.expires_at, refreshToken: new Secret(refresh) };
  return { bot: new Secret(bot), rotation };
}

/** The row of an install. It keeps nothing of an earlier one. */
export function toRow(installation: NewInstallation, generation: number, vault: Vault): InstallationRow {
  const { id, isOrg, enterpriseId, name, installedBy, installedAt, scopes, tokens } = installation;
  const bound = {
    id,
    is_org: isOrg ? 1 : 0,
    enterprise_id: enterpriseId ?? null,
    generation,
    installed_by: installedBy,
    installed_at: installedAt,
    expires_at: tokens.rotation?.expiresAt ?? 0,
  };
  return {
    ...bound,
    name,
    scopes: scopes.join(','),
    sealed: sealTokens(bound, tokens, vault),
    is_refresh_refused: 0,
    is_token_refused: 0,
    revoked_at: 0,
    revocation_checked_at: 0,
  };
}

function sealTokens(row: BoundColumns, { bot, rotation }: BotTokens, vault: Vault): string {
  const written = { bot: bot.reveal(), refresh: rotation?.refreshToken.reveal() };
  return vault.seal(JSON.stringify(written), placeOfTokens(row));
}

/** Bound to who installed the app, when, and how often before: tokens of an earlier install open nothing. */
function placeOfTokens(row: BoundColumns): SealedPlace {
  const { id, is_org, enterprise_id, generation, installed_by, installed_at, expires_at } = row;
  return {
    table: 'installations',
    row: id,
    column: 'sealed',
    workspaceId: id,
    facts: [is_org, enterprise_id ?? '', generation, installed_by, installed_at, expires_at],
  };
}
