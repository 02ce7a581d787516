namespace Garnet.Common.Test.Settings;

public enum SampleDay
{
    WorkDay,
    RestDay,
}
