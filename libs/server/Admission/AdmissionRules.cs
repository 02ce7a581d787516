using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// May this command run? The rules in their order, each asked for whom it concerns; the first that has something to say decides.
/// Nothing else in the server answers that question before the run; what a run finds in its way (the batch that a replica is applying, a script
/// whose turn it is) it says itself. The way of a plain command of a plain client passes none of the rules.
/// </summary>
internal static unsafe class AdmissionRules
{
    /// <summary>All of them. ARCHITECTURE.md shows this table; a test compares.</summary>
    internal static readonly AdmissionRule[] Ordered =
    [
        new("known", Asker.Connections | Asker.ScriptCall, &KnownRule.Ask),
        new("authentication", Asker.Connections, &AuthenticationRule.Ask),
        new("permission", Asker.Connections | Asker.ScriptCall | Asker.Woken | Asker.Executed, &PermissionRule.Ask),
        new("context", Asker.Connections | Asker.Declared | Asker.ScriptCall, &ContextRule.Ask),
        new("ownership", Asker.Client | Asker.Queued | Asker.ScriptCall | Asker.Woken, &OwnershipRule.Ask),
        new("role", Asker.Client | Asker.Queued | Asker.Scripts | Asker.ScriptCall, &RoleRule.Ask),
        new("durability", Asker.Client | Asker.Queued | Asker.Scripts | Asker.ScriptCall, &DurabilityRule.Ask),
        new("memory", Asker.Client | Asker.Queued | Asker.Declared | Asker.ScriptCall, &MemoryRule.Ask),
        new("pause", Asker.Client | Asker.Queued | Asker.Scripts, &PauseRule.Ask),
        new("residency", Asker.Client | Asker.ScriptCall | Asker.Woken, &ResidencyRule.Ask),
    ];

    private static readonly AdmissionRule[] ForClients = For(Asker.Client), ForQueued = For(Asker.Queued), ForBusy = For(Asker.Busy);
    private static readonly AdmissionRule[] ForDeclared = For(Asker.Declared), ForUndeclared = For(Asker.Undeclared);
    private static readonly AdmissionRule[] ForScriptCalls = For(Asker.ScriptCall), ForWoken = For(Asker.Woken);
    private static readonly AdmissionRule[] ForExecuted = For(Asker.Executed);

    /// <summary>What the first rule says that does not just allow.</summary>
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        foreach (ref readonly AdmissionRule rule in Of(question.Asker).AsSpan())
        {
            AdmissionResult result = rule.Ask(ref call, in question);
            if (!result.IsAllowed)
                return result;
        }

        return AdmissionResult.Allowed;
    }

    private static AdmissionRule[] Of(Asker asker) => asker switch
    {
        Asker.Client => ForClients,
        Asker.Queued => ForQueued,
        Asker.Busy => ForBusy,
        Asker.Declared => ForDeclared,
        Asker.Undeclared => ForUndeclared,
        Asker.ScriptCall => ForScriptCalls,
        Asker.Executed => ForExecuted,
        _ => ForWoken,
    };

    // By hand: a list of them would be compiled at every start.
    private static AdmissionRule[] For(Asker asker)
    {
        var all = new AdmissionRule[Ordered.Length];
        int count = 0;
        foreach (AdmissionRule rule in Ordered)
        {
            if ((rule.Askers & asker) != 0)
                all[count++] = rule;
        }

        return all[..count];
    }
}
