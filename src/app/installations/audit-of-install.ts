import { THE_APP } from '../../domain/actor.ts';
import type { UserId } from '../../domain/ids.ts';
import type { System } from '../../system.ts';
import { describeForAudit } from '../access/describe-for-audit.ts';
import { makeAuditEntry } from '../authorize/audit-entry.ts';
import type { AuditOfErasure, AuditOfInstall } from './ports.ts';

/** What the audit says about an install, and about the role that it brings. */
export function auditOfInstall(installedBy: UserId, app: { readonly system: System }): AuditOfInstall {
  return (workspaceId, owner) => {
    const common = { workspaceId, actorId: installedBy, surface: 'page', outcome: 'done' } as const;
    const installed = makeAuditEntry(app, { ...common, action: 'install' });
    if (owner === undefined) return [installed];
    const label = describeForAudit({ role: 'owner', pattern: '', subjectId: owner });
    return [installed, makeAuditEntry(app, { ...common, action: 'access_grant', label })];
  };
}

const BY_THE_APP = { actorId: THE_APP, surface: 'background' } as const;

/** What the audit says after an uninstall: which paid servers lost the root password that was held, and that it is over. */
export function auditOfErasure(app: { readonly system: System }): AuditOfErasure {
  return (workspaceId, passwords) => {
    const common = { ...BY_THE_APP, workspaceId, outcome: 'done' } as const;
    return [
      ...passwords.map((subject) =>
        makeAuditEntry(app, { ...common, ...subject, action: 'password_erased' }),
      ),
      makeAuditEntry(app, { ...common, action: 'uninstall' }),
    ];
  };
}
