using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>There is such a command, and it takes so many arguments.</summary>
internal static unsafe class KnownRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        CommandEntry* entry = question.Entry;
        bool isKnown = entry->IsNamedBy(call.Count);
        if (isKnown && entry->Takes(call.Count))
            return AdmissionResult.Allowed;
        if (question.IsFor(Asker.ScriptCall))
            return AdmissionResult.Refused(isKnown
                ? "ERR Wrong number of args calling Redis command from script"u8
                : "ERR Unknown Redis command called from script"u8);
        if (entry->Id == 0)
            return AdmissionResult.Refused(UnknownCommand.TextOf(ref call));
        return AdmissionResult.Refused(isKnown || call.Count < entry->ArgsMin ? call.WrongArityText() : Containers.UnknownText(ref call));
    }
}
